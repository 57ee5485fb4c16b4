#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>

#include "engine/declared.h"
#include "engine/plan_report.h"
#include "engine/state.h"
#include "engine/states.h"
#include "memory/backstop.h"
#include "plimsoll/engine.h"

namespace plimsoll {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Once a plan fits, and not before: what does not fit shall be told with the smallest limit that
/// works.
void install_backstop_once(const Session::State& session) {
  Engine::State& engine = *session.model->engine;
  if (!engine.options.owns_process) return;
  std::call_once(engine.backstop, [&] {
    const auto workers = static_cast<std::uint64_t>(session.threads->threads() - 1);
    memory::install_backstop(engine.limit_bytes,
                             workers * tensor::kernels::ThreadPool::stack_bytes);
  });
}

/// The last look before a run.
std::optional<Refusal> refused_by_plan(Session::State& session) {
  const PlanReport plan = plan_session(session, PlanPurpose::run);
  const bool promised = plan.weights_encoded_bytes == session.promised_weight_bytes &&
                        plan.activation_bytes == session.promised_activation_bytes;
  if (plan.verdict == Verdict::does_not_fit && !promised) {
    Refusal refusal;
    refusal.budget = "process";
    refusal.purpose = fmt::format("running '{}'", session.model->graph->path);
    refusal.requested_bytes = plan.predicted_peak_bytes;
    refusal.available_bytes = plan.limit_bytes;
    refusal.smallest_workable_limit_bytes = plan.smallest_workable_limit_bytes;
    return refusal;
  }
  return std::nullopt;
}

}  // namespace

std::expected<void, Refusal> Session::State::claim_unreserved() {
  Engine::State& engine = *model->engine;
  if (engine.measured != nullptr) return engine.measured->update();
  {
    const std::scoped_lock lock(engine.unreserved_mutex);
    if (auto claimed = engine.unreserved.claim(*engine.root); !claimed) return claimed;
    if (auto claimed = model->unreserved.claim(*model->weight_budget); !claimed) return claimed;
  }
  return unreserved.claim(*budget);
}

std::uint64_t Session::State::unclaimed_bytes() const {
  if (model->engine->measured != nullptr) return model->engine->measured->unclaimed_bytes();
  Engine::State& engine = *model->engine;
  const std::scoped_lock lock(engine.unreserved_mutex);
  return engine.unreserved.unclaimed_bytes() + model->unreserved.unclaimed_bytes() +
         unreserved.unclaimed_bytes();
}

std::size_t Session::State::input_index(std::string_view name) const {
  for (std::size_t index = 0; index < graph().inputs.size(); ++index) {
    if (graph().values[graph().inputs[index]].name == name) return index;
  }
  std::vector<std::string> names;
  for (tensor::ValueId id : graph().inputs) names.push_back(graph().values[id].name);
  throw Error(ErrorKind::usage, fmt::format("the model has no input '{}'; it has '{}'", name,
                                            fmt::join(names, "', '")));
}

std::size_t Session::State::output_index(std::string_view name) const {
  const auto names = output_names(graph());
  for (std::size_t index = 0; index < names.size(); ++index) {
    if (names[index] == name) return index;
  }
  throw Error(ErrorKind::usage, fmt::format("the model has no output '{}'; it has '{}'", name,
                                            fmt::join(names, "', '")));
}

Session Model::new_session() const {
  const UnreservedGrowth growth;  // the first session makes the table of operators
  auto session = std::make_shared<Session::State>();
  session->model = state_;
  Engine::State& engine = *state_->engine;
  session->budget = engine.root->child("session");
  session->threads = std::make_unique<tensor::kernels::ThreadPool>(engine.options.threads);
  session->input_set.assign(state_->graph->main.inputs.size(), false);
  make_execution(*session);
  engine.add_growth(growth, session->unreserved);
  return Session(std::move(session));
}

void Session::set_input(std::string_view name, ConstTensorView value) {
  const std::size_t index = state_->input_index(name);
  check_declared(state_->graph().values[state_->graph().inputs[index]], value.type, value.shape);
  tensor::ExecutionValue input;
  input.type = {value.type, value.shape};
  input.data = value.data;
  state_->execution->set_input(index, input, true);
  state_->input_set[index] = true;
}

void Session::set_input_sequence(std::string_view name,
                                 const std::vector<ConstTensorView>& values) {
  const std::size_t index = state_->input_index(name);
  auto sequence = std::make_shared<tensor::SequenceValue>();
  for (const ConstTensorView& value : values) {
    auto owned = std::make_shared<tensor::OwnedTensor>();
    owned->type = {value.type, value.shape};
    owned->borrowed = value.data;
    if (value.data == nullptr) owned->heap.resize(1);  // an empty tensor may have no memory
    sequence->element = value.type;
    sequence->items.push_back(std::move(owned));
  }
  const auto& declared = state_->graph().values[state_->graph().inputs[index]].declared;
  if (values.empty() && declared) sequence->element = declared->element;
  tensor::ExecutionValue input;
  input.sequence = std::move(sequence);
  state_->execution->set_input(index, input, true);
  state_->input_set[index] = true;
}

void Session::set_input_absent(std::string_view name) {
  const std::size_t index = state_->input_index(name);
  tensor::ExecutionValue input;
  input.absent = true;
  state_->execution->set_input(index, input, true);
  state_->input_set[index] = true;
}

void Session::set_input_shape(std::string_view name, ElementType type, const Shape& shape) {
  const std::size_t index = state_->input_index(name);
  check_declared(state_->graph().values[state_->graph().inputs[index]], type, shape);
  tensor::ExecutionValue input;
  input.type = {type, shape};
  state_->execution->set_input(index, input, false);
  state_->input_set[index] = false;
}

void Session::set_output(std::string_view name, TensorView destination) {
  const std::size_t index = state_->output_index(name);
  for (const auto& binding : state_->bindings) {
    if (binding->output == index) {
      throw Error(ErrorKind::usage,
                  fmt::format("output '{}' is a state: it stays in the session's memory", name));
    }
  }
  state_->execution->set_output(index, destination);
}

void Session::bind_state(std::string_view output, std::string_view input) {
  auto binding = std::make_unique<State::StateBinding>();
  binding->output = state_->output_index(output);
  binding->input = state_->input_index(input);
  for (const auto& other : state_->bindings) {
    if (other->output == binding->output || other->input == binding->input) {
      throw Error(ErrorKind::usage,
                  fmt::format("state '{}={}': one of them is bound already", output, input));
    }
  }
  state_->execution->set_output(binding->output, {});
  state_->execution->expect_output_memory(binding->output);
  state_->bindings.push_back(std::move(binding));
}

PlanReport Session::plan(const HostExpectation& expected) {
  const PlanReport plan = plan_session(*state_, PlanPurpose::promise, expected);
  const bool fits = plan.verdict != Verdict::does_not_fit;
  state_->promised_weight_bytes = fits ? plan.weights_encoded_bytes : UINT64_MAX;
  state_->promised_activation_bytes = fits ? plan.activation_bytes : UINT64_MAX;
  if (fits) install_backstop_once(*state_);
  return plan;
}

std::expected<RunReport, Refusal> Session::run() {
  State& session = *state_;
  for (std::size_t index = 0; index < session.input_set.size(); ++index) {
    if (!session.input_set[index]) {
      const tensor::Value& value = session.graph().values[session.graph().inputs[index]];
      fail_input(fmt::format("input '{}' is not given: {}", value.name, declared_words(value)));
    }
  }
  session.cancellations_before = session.model->engine->cancellations.load();
  try {
    // What ran before runs again: its memory is held, or reserved as it was then.
    const bool is_known = session.has_run && session.version_run == session.execution->version();
    if (!is_known) {
      if (auto refusal = refused_by_plan(session)) return std::unexpected(std::move(*refusal));
    }
    install_backstop_once(session);
    Engine::State& engine = *session.model->engine;
    RunReport report;
    const double begin = now_seconds();
    if (!session.has_run) {
      engine.timeline->begin_phase("encode");
      auto stacks = session.budget->reserve(stack_reserve_bytes(session), "thread stacks");
      if (!stacks) return std::unexpected(std::move(stacks.error()));
      session.stacks = std::move(*stacks);
      const UnreservedGrowth growth;
      if (auto loaded = session.execution->load(); !loaded) {
        return std::unexpected(std::move(loaded.error()));
      }
      engine.add_growth(growth, session.unreserved);  // small weights among it
      if (auto claimed = session.claim_unreserved(); !claimed) {
        return std::unexpected(std::move(claimed.error()));
      }
      engine.timeline->begin_phase("run");
    }
    const double loaded = now_seconds();
    report.load_seconds = loaded - begin;
    session.execution->set_profiling(session.profiling);
    if (auto prepared = prepare_states(session); !prepared) {
      return std::unexpected(std::move(prepared.error()));
    }
    if (auto ran = session.execution->run(); !ran) {
      Refusal& refusal = ran.error();
      if (session.execution->refused_in_last_stage() && !refusal.by_kernel) {
        refusal.smallest_workable_limit_bytes =
            engine.limit_bytes + (refusal.requested_bytes - refusal.available_bytes) +
            between_processes_bytes;
      }
      return std::unexpected(std::move(refusal));
    }
    report.run_seconds = now_seconds() - loaded;
    engine.timeline->sample();
    session.has_run = true;
    if (!is_known) {
      if (auto claimed = session.claim_unreserved(); !claimed) {
        return std::unexpected(std::move(claimed.error()));
      }
    }
    session.version_run = session.execution->version();
    for (const tensor::StepProfile& step : session.execution->profile()) {
      report.profile.push_back(
          {step.name, step.op, step.begin_seconds, step.seconds, step.output_bytes});
    }
    for (const memory::Timeline::Phase& phase : engine.timeline->phases()) {
      PhaseReport& entry = report.phases.emplace_back();
      entry.name = phase.name;
      entry.kernel_peak_bytes = phase.kernel_peak_bytes;
      entry.seconds = phase.end_seconds - phase.begin_seconds;
    }
    if (auto bound = rotate_states(session); !bound)
      return std::unexpected(std::move(bound.error()));
    return report;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::internal, memory::describe_exhausted_heap(*session.model->engine->root));
  }
}

void Session::set_profiling(bool on) {
  state_->profiling = on;
}

ConstTensorView Session::output(std::string_view name) const {
  const std::size_t index = state_->output_index(name);
  const auto& outputs = state_->execution->outputs();
  if (index >= outputs.size()) {
    throw Error(ErrorKind::usage, "there is no output before a run");
  }
  const tensor::ExecutionValue& value = outputs[index];
  if (value.sequence || value.absent) {
    throw Error(ErrorKind::usage, fmt::format("output '{}' is not a tensor", name));
  }
  return {value.type.element, value.type.shape, value.data};
}

bool Session::output_is_sequence(std::string_view name) const {
  const std::size_t index = state_->output_index(name);
  const auto& outputs = state_->execution->outputs();
  return index < outputs.size() && outputs[index].sequence != nullptr;
}

std::vector<ConstTensorView> Session::output_sequence(std::string_view name) const {
  const std::size_t index = state_->output_index(name);
  const auto& outputs = state_->execution->outputs();
  if (index >= outputs.size()) {
    throw Error(ErrorKind::usage, "there is no output before a run");
  }
  if (!outputs[index].sequence) {
    throw Error(ErrorKind::usage, fmt::format("output '{}' is not a sequence", name));
  }
  std::vector<ConstTensorView> items;
  for (const auto& item : outputs[index].sequence->items) {
    items.push_back(item->view());
  }
  return items;
}

void Session::release_memory() {
  state_->execution->release_memory();
}

}  // namespace plimsoll
