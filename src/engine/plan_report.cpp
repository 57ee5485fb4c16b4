#include "engine/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/measures.h"
#include "engine/states.h"
#include "memory/heap.h"
#include "memory/size.h"
#include "tensor/kernels/target.h"
#include "tensor/plan/lowering.h"

namespace plimsoll {
namespace {

/// Pages of the program that a run touches and planning does not (kernels, operators), and the
/// small heap blocks of a run.
constexpr std::uint64_t run_code_bytes = 3 << 18;

/// What planning for one set of inputs finds held already, and what is common to all choices.
struct Circumstances {
  std::uint64_t held = 0;    ///< the process where the limit covers it, and what is reserved
  std::uint64_t states = 0;  ///< bound states that have no memory yet
  std::uint64_t extra = 0;   ///< pages of the program and of stacks that only a run touches
};

std::uint64_t encode_peak(const Circumstances& now, const tensor::PlanChoice& choice,
                          const tensor::PlanFigures& figures) {
  if (figures.missing_weight_bytes == 0) return now.held;
  return now.held + figures.missing_weight_bytes + choice.window_bytes + run_code_bytes / 2;
}

std::uint64_t run_peak(const Circumstances& now, const tensor::PlanChoice& choice,
                       const tensor::PlanFigures& figures) {
  return now.held + figures.missing_weight_bytes + now.states + figures.activation_bytes +
         now.extra + (figures.streamed_bytes != 0 ? choice.window_bytes : 0);
}

void describe_measures(PlanReport& report, const tensor::PlanChoice& choice,
                       const tensor::PlanFigures& figures, const tensor::PlanFigures& fastest) {
  const tensor::PlanChoice fast = fastest_choice();
  if (choice.window_bytes != fast.window_bytes) {
    report.measures.push_back(fmt::format("weights pass through a window of {} instead of {}",
                                          memory::format_bytes(choice.window_bytes),
                                          memory::format_bytes(fast.window_bytes)));
  }
  if (choice.strips != fast.strips && figures.activation_bytes < fastest.activation_bytes) {
    report.measures.push_back(fmt::format(
        "images are computed in shorter strips of rows: {} of activations instead of {}",
        memory::format_bytes(figures.activation_bytes),
        memory::format_bytes(fastest.activation_bytes)));
  }
  if (figures.streamed_bytes != 0) {
    report.measures.push_back(
        fmt::format("{} of weights are streamed: read again in every run instead of held",
                    memory::format_bytes(figures.streamed_bytes)));
  }
}

}  // namespace

std::vector<std::string> output_names(const tensor::Graph& graph) {
  std::vector<std::string> names;
  names.reserve(graph.outputs.size());
  for (tensor::ValueId id : graph.outputs) names.push_back(graph.values[id].name);
  return names;
}

std::uint64_t stack_reserve_bytes(const Session::State& session) {
  // A worker touches two or three pages of its stack; the kernel counts only those.
  return static_cast<std::uint64_t>(session.threads->threads() - 1) * 16 * 1024;
}

void make_execution(Session::State& session) {
  Engine::State& engine = *session.model->engine;
  tensor::ExecutionServices services;
  services.operators = &tensor::OperatorTable::builtin();
  services.weights = session.model->weights.get();
  services.budget = session.budget;
  services.threads = session.threads.get();
  services.cancelled = [&session, &engine] {
    return engine.cancellations.load(std::memory_order_relaxed) != session.cancellations_before;
  };
  services.progress = engine.options.progress;
  const auto target = tensor::kernels::target_from_name(engine.target);
  services.transform = [target](tensor::Program& program) {
    tensor::lower_program(program, target);
  };
  session.execution = std::make_unique<tensor::Execution>(
      std::shared_ptr<const tensor::Graph>(session.model->graph, &session.model->graph->main),
      std::move(services));
}

PlanReport plan_session(Session::State& session, PlanPurpose purpose,
                        const HostExpectation& expected) {
  Engine::State& engine = *session.model->engine;
  tensor::Execution& execution = *session.execution;
  PlanReport report;
  const UnreservedGrowth growth;
  const std::size_t streamable = execution.streamable_weights();
  const tensor::PlanFigures fastest = execution.figures(fastest_choice());
  static_cast<void>(execution.figures(least_choice(streamable)));
  session.unreserved.add_plan(growth.heap_bytes());
  {
    const std::scoped_lock lock(engine.unreserved_mutex);
    engine.unreserved.add_load(growth.program_bytes());
  }

  // What is held already: the process (where the limit covers it), heap, weights and inputs. What
  // of the heap does not fit into the ledger is counted all the same. A claim that is refused trims
  // the heap; done here, the plan is the same for a limit that is much too small.
  if (purpose == PlanPurpose::promise && engine.options.owns_process) {
    static_cast<void>(memory::trim_heap());
  }
  [[maybe_unused]] const auto refused = session.claim_unreserved();
  const std::uint64_t process = engine.options.limit_covers_process ? engine.base_bytes : 0;
  std::uint64_t reserved = engine.root->used() + session.unclaimed_bytes();
  reserved -= std::min(reserved, execution.reusable_bytes());
  const Circumstances now{process + reserved + expected.input_bytes, missing_state_bytes(session),
                          run_code_bytes + stack_reserve_bytes(session)};
  // A promise uses half the room, so that N holds in the next process too; a run that was promised
  // to fit is not refused for the room that the promise kept.
  const std::uint64_t room = purpose == PlanPurpose::promise ? between_processes_bytes / 2 : 0;
  const PeakOf peak_of = [&](const tensor::PlanChoice& choice) {
    const tensor::PlanFigures figures = execution.figures(choice);
    return std::max({now.held + expected.scratch_bytes, encode_peak(now, choice, figures),
                     run_peak(now, choice, figures)}) +
           room;
  };
  const bool keep_promise =
      purpose == PlanPurpose::run && session.promised_activation_bytes != UINT64_MAX &&
      execution.figures(execution.choice()).activation_bytes == session.promised_activation_bytes;
  if (!keep_promise) {
    execution.choose(
        choose_measures(engine.options.policy, engine.limit_bytes, streamable, peak_of));
  }
  const tensor::PlanChoice choice = execution.choice();
  const tensor::PlanFigures figures = execution.figures(choice);
  const tensor::StagePlan& plan = execution.plan_first_stage();
  bool complete = execution.complete_after_first_stage();
  std::optional<tensor::PlanAhead> ahead;
  if (!complete) {
    ahead = execution.plan_ahead(choice);
    complete = ahead->complete;
  }

  for (const tensor::WeightUse& use : ahead ? ahead->weights : plan.weights) {
    WeightReport& weight = report.weights.emplace_back();
    weight.name = use.view.stored->name;
    weight.encoding = use.encoding.name();
    weight.residency = use.streamed ? "streamed" : "resident";
    weight.source_bytes = use.view.stored->source_bytes();
    weight.encoded_bytes = use.encoding.bytes;
    report.weights_source_bytes += weight.source_bytes;
    report.weights_encoded_bytes += weight.encoded_bytes;
  }
  report.streamed_bytes = figures.streamed_bytes;
  report.window_bytes = choice.window_bytes;
  report.activation_bytes = figures.activation_bytes;
  report.limit_bytes = engine.limit_bytes;
  report.limit_source = engine.limit_source;
  report.base_bytes = engine.base_bytes;
  report.target = engine.target;
  report.threads = engine.options.threads;

  const auto phase = [&](const char* name, std::uint64_t bytes) {
    PhaseReport& entry = report.phases.emplace_back();
    entry.name = name;
    entry.predicted_peak_bytes = bytes;
    report.predicted_peak_bytes = std::max(report.predicted_peak_bytes, bytes);
  };
  const std::uint64_t host = std::min(now.held, engine.host->used() + expected.input_bytes);
  phase("import", now.held - host);
  if (host != 0) phase("inputs", now.held + expected.scratch_bytes);
  phase("encode", encode_peak(now, choice, figures));
  phase("run", run_peak(now, choice, figures));

  report.smallest_workable_limit_bytes =
      peak_of(least_choice(streamable)) - room + between_processes_bytes;
  describe_measures(report, choice, figures, fastest);
  report.verdict = report.measures.empty() ? Verdict::fits : Verdict::fits_with_measures;
  if (!complete) {
    report.verdict = Verdict::fits_so_far;
    report.stage = ahead->waiting_for;
  }
  if (report.predicted_peak_bytes + room > report.limit_bytes) {
    report.verdict = Verdict::does_not_fit;
  }
  return report;
}

}  // namespace plimsoll
