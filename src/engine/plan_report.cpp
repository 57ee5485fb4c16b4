#include "engine/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/states.h"
#include "memory/size.h"
#include "tensor/kernels/target.h"
#include "tensor/plan/lowering.h"

namespace plimsoll {
namespace {

/// Pages of the program that a run touches and planning does not (kernels, operators), and the
/// small heap blocks of a run.
constexpr std::uint64_t run_code_bytes = 3 << 18;
constexpr std::uint64_t default_window_bytes = 1 << 20;
/// Strips cost no time where they are tall enough (mlsd_512x512_large, one thread, alternating: 407
/// ms with them, 487 without), so they are used whether memory is short or not; then a tenth more
/// than the least is spent on taller ones.
constexpr tensor::StripTarget speed_strips{0, 0.1};

}  // namespace

std::vector<std::string> output_names(const tensor::Graph& graph) {
  std::vector<std::string> names;
  for (tensor::ValueId id : graph.outputs) names.push_back(graph.values[id].name);
  return names;
}

std::uint64_t stack_reserve_bytes(const Session::State& session) {
  // A worker touches two or three pages of its stack; the kernel counts only those.
  return static_cast<std::uint64_t>(session.threads->threads() - 1) * 16 * 1024;
}

void make_execution(Session::State& session, const ExecutionChoice& choice) {
  Engine::State& engine = *session.model->engine;
  tensor::ExecutionServices services;
  services.operators = &tensor::OperatorTable::builtin();
  services.weights = session.model->weights.get();
  services.budget = session.budget;
  services.threads = session.threads.get();
  services.window_bytes = choice.window_bytes;
  services.cancelled = [&session, &engine] {
    return engine.cancellations.load(std::memory_order_relaxed) != session.cancellations_before;
  };
  services.progress = engine.options.progress;
  const auto target = tensor::kernels::target_from_name(engine.target);
  services.transform = [target](tensor::Program& program) {
    tensor::lower_program(program, target);
  };
  session.window_bytes = choice.window_bytes;
  services.strips = speed_strips;
  session.execution = std::make_unique<tensor::Execution>(
      std::shared_ptr<const tensor::Graph>(session.model->graph, &session.model->graph->main),
      std::move(services));
}

PlanReport plan_session(Session::State& session, PlanPurpose purpose) {
  Engine::State& engine = *session.model->engine;
  PlanReport report;
  const HeapGrowth growth;
  const tensor::StagePlan& plan = session.execution->plan_first_stage();
  session.heap.add(growth.bytes());
  bool complete = session.execution->complete_after_first_stage();
  std::optional<tensor::PlanAhead> ahead;
  if (!complete) {
    ahead = session.execution->plan_ahead();
    complete = ahead->complete;
  }

  std::uint64_t missing_weights = 0;  // to be encoded by this session
  for (const tensor::WeightUse& use : ahead ? ahead->weights : plan.weights) {
    WeightReport& weight = report.weights.emplace_back();
    weight.name = use.view.stored->name;
    weight.encoding = use.encoding.name();
    weight.residency = "resident";
    weight.source_bytes = use.view.stored->source_bytes();
    weight.encoded_bytes = use.encoding.bytes;
    report.weights_source_bytes += weight.source_bytes;
    report.weights_encoded_bytes += weight.encoded_bytes;
    if (session.model->weights->find(use.view, use.encoding) == nullptr) {
      missing_weights += use.encoding.bytes;
    }
  }
  report.window_bytes = default_window_bytes;
  report.activation_bytes = ahead ? ahead->activation_bytes : plan.arena_bytes;
  report.limit_bytes = engine.limit_bytes;
  report.limit_source = engine.limit_source;
  report.base_bytes = engine.base_bytes;
  report.target = engine.target;
  report.threads = engine.options.threads;

  // What is held already: the process (where the limit covers it), heap, weights and inputs. What
  // of the heap does not fit into the ledger is counted all the same.
  static_cast<void>(session.claim_heap());
  const std::uint64_t process = engine.options.limit_covers_process ? engine.base_bytes : 0;
  std::uint64_t reserved = engine.root->used() + session.unclaimed_heap_bytes();
  reserved -= std::min(reserved, session.execution->reusable_bytes());
  const std::uint64_t states = missing_state_bytes(session);
  const std::uint64_t held = process + reserved;
  const std::uint64_t window = missing_weights != 0 ? report.window_bytes : 0;
  const std::uint64_t extra = run_code_bytes + stack_reserve_bytes(session);
  const auto phase = [&](const char* name, std::uint64_t bytes) {
    PhaseReport& entry = report.phases.emplace_back();
    entry.name = name;
    entry.predicted_peak_bytes = bytes;
    report.predicted_peak_bytes = std::max(report.predicted_peak_bytes, bytes);
  };
  const std::uint64_t host = std::min(held, engine.host->used());
  phase("import", held - host);
  if (host != 0) phase("inputs", held);
  phase("encode", held + missing_weights + window + (window != 0 ? run_code_bytes / 2 : 0));
  phase("run", held + missing_weights + states + report.activation_bytes + extra);
  report.smallest_workable_limit_bytes = report.predicted_peak_bytes + between_processes_bytes;
  report.verdict = complete ? Verdict::fits : Verdict::fits_so_far;
  if (!complete) report.stage = ahead->waiting_for;
  // A run that was promised to fit is not refused for the room that the promise kept.
  // A promise uses half the room, so that N holds in the next process too.
  const std::uint64_t room = purpose == PlanPurpose::promise ? between_processes_bytes / 2 : 0;
  const std::uint64_t needed = report.predicted_peak_bytes + room;
  if (needed > report.limit_bytes) report.verdict = Verdict::does_not_fit;
  return report;
}

}  // namespace plimsoll
