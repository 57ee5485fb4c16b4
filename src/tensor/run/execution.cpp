#include "tensor/run/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "plimsoll/error.h"
#include "tensor/encode/encode_columns.h"
#include "tensor/run/prepare_program.h"
#include "tensor/run/strip_run.h"

namespace plimsoll::tensor {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

/// A planned stage and the memory it runs in.
struct Execution::Stage {
  StagePlan plan;
  std::vector<std::shared_ptr<const EncodedWeight>> weights;
  bool loaded = false;
  memory::Block arena;
};

Execution::Execution(std::shared_ptr<const Graph> graph, ExecutionServices services)
    : graph_(std::move(graph)),
      services_(std::move(services)),
      inputs_(graph_->inputs.size()),
      input_known_(graph_->inputs.size(), false),
      output_memory_(graph_->outputs.size()),
      output_external_(graph_->outputs.size(), false) {}

Execution::~Execution() = default;

void Execution::check_cancelled() const {
  if (services_.cancelled && services_.cancelled()) throw Error(ErrorKind::failure, "cancelled");
}

void Execution::set_input(std::size_t index, const ExecutionValue& value, bool value_known) {
  ExecutionValue& input = inputs_[index];
  const bool decides = value_known && value.sequence == nullptr && is_small_input(value.type);
  bool same = input.type == value.type && !value.sequence && !input.sequence &&
              input_known_[index] == value_known && value.absent == input.absent;
  if (same && decides) {
    const ProgramValue* known =
        instance_ ? &instance_->program().values[instance_->program_value(graph_->inputs[index])]
                  : nullptr;
    same = known != nullptr && known->constant &&
           std::memcmp(known->constant->data(), value.data, type_bytes(value.type)) == 0;
  }
  input = value;
  input_known_[index] = value_known;
  if (!same) change_plan();
}

void Execution::change_plan() {
  ++version_;
  drop_plan();
}

void Execution::drop_plan() {
  if (!outputs_.empty()) {
    if (outputs_stage_ == nullptr) outputs_stage_ = std::move(first_);
    if (outputs_instance_ == nullptr) outputs_instance_ = std::move(instance_);
  }
  first_.reset();
  instance_.reset();
  figures_.clear();
}

void Execution::set_output(std::size_t index, const TensorView& memory) {
  // Whether an output is external belongs to the plan; where it is does not.
  if ((memory.data != nullptr) != output_external_[index]) change_plan();
  output_memory_[index] = memory;
  output_external_[index] = memory.data != nullptr;
}

void Execution::expect_output_memory(std::size_t index) {
  if (!output_external_[index]) change_plan();
  output_external_[index] = true;
}

std::optional<TensorType> Execution::planned_output(std::size_t index) const {
  if (instance_ == nullptr || !instance_->complete()) return std::nullopt;
  const ProgramValue& value = instance_->program().values[instance_->outputs().at(index)];
  if (value.dynamic) return std::nullopt;
  return value.type;
}

void Execution::check_output(std::size_t index, const TensorType& type) const {
  const TensorView& memory = output_memory_[index];
  if (memory.data == nullptr) return;
  if (memory.type == type.element && memory.bytes() >= type_bytes(type)) return;
  throw Error(ErrorKind::usage,
              fmt::format("output '{}' is {} {} ({} bytes), the memory given for it is {} {} ({} "
                          "bytes)",
                          graph_->values[graph_->outputs[index]].name, element_name(type.element),
                          type.shape.to_string(), type_bytes(type), element_name(memory.type),
                          memory.shape.to_string(), memory.bytes()));
}

Program& Execution::program() {
  return instance_->program();
}
bool Execution::complete_after_first_stage() const {
  return instance_->complete();
}
std::string Execution::waiting_for() const {
  return instance_->waiting_for();
}

void Execution::set_facts(Instance& instance) const {
  for (std::size_t index = 0; index < inputs_.size(); ++index) {
    const ExecutionValue& input = inputs_[index];
    const bool dynamic = input.sequence != nullptr || input.absent;
    if (input.type.element == ElementType::undefined && !dynamic) {
      fail_input(
          fmt::format("input '{}' is not given", graph_->values[graph_->inputs[index]].name));
    }
    InputFacts facts{input.type, nullptr, dynamic};
    if (input_known_[index] && !dynamic && is_small_input(input.type)) facts.value = input.data;
    instance.set_input(graph_->inputs[index], facts);
  }
}

void Execution::reveal_inputs() {
  for (std::size_t index = 0; index < inputs_.size(); ++index) {
    const ExecutionValue& input = inputs_[index];
    if (input.sequence != nullptr || input.absent) continue;
    instance_->materialise(instance_->program_value(graph_->inputs[index]), input.type, input.data,
                           false);
  }
}

std::uint64_t Execution::reusable_bytes() const {
  std::uint64_t total = window_.size();
  if (first_ != nullptr) total += first_->arena.size();
  if (outputs_stage_ != nullptr) total += outputs_stage_->arena.size();
  if (last_stage_ != nullptr) total += last_stage_->arena.size();
  for (const auto& tensor : kept_) {
    if (tensor != nullptr) total += tensor->block.size();
  }
  return total;
}

const StagePlan& Execution::plan_first_stage() {
  specialise();
  if (first_ == nullptr) {
    auto stage = std::make_unique<Stage>();
    stage->plan = plan_program(choice_);
    first_ = std::move(stage);
  }
  return first_->plan;
}

void Execution::specialise() {
  if (instance_ != nullptr && !ran_past_first_) return;
  drop_plan();
  ran_past_first_ = false;
  kept_.clear();
  sequences_.clear();
  absent_optional_.clear();
  auto instance = std::make_unique<Instance>(graph_, *services_.operators);
  set_facts(*instance);
  Program& program = instance->advance();
  prepare_program(program, services_);
  instance_ = std::move(instance);
}

StageOptions Execution::stage_options(bool first_stage) const {
  StageOptions options;
  options.threads = services_.threads->threads();
  if (!first_stage || !instance_->complete()) return options;
  const std::vector<ValueId> outputs = instance_->outputs();
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    if (!output_external_[index]) continue;
    if (std::ranges::count(outputs, outputs[index]) == 1) {
      options.external_outputs.push_back(outputs[index]);
    }
  }
  return options;
}

StagePlan Execution::plan_program(const PlanChoice& choice) {
  return plan_stage(instance_->program(), stage_options(true), choice, true);
}

void Execution::choose(const PlanChoice& choice) {
  if (choice == choice_) return;
  const bool same_plan = choice.strips == choice_.strips && choice.streamed == choice_.streamed;
  choice_ = choice;
  if (same_plan || first_ == nullptr) return;
  // The last run's outputs may be in the arena of the stage that goes.
  if (!outputs_.empty() && outputs_stage_ == nullptr) outputs_stage_ = std::move(first_);
  first_.reset();
}

PlanFigures Execution::figures(const PlanChoice& choice) {
  specialise();
  // Another session of the model may have loaded weights meanwhile.
  if (const std::uint64_t held = services_.weights->bytes(); held != figures_weight_bytes_) {
    figures_.clear();
    figures_weight_bytes_ = held;
  }
  for (const auto& [known, figures] : figures_) {
    if (known == choice) return figures;
  }
  const auto figures_of = [&](const std::vector<WeightUse>& weights, std::uint64_t activations) {
    PlanFigures figures;
    figures.activation_bytes = activations;
    for (const WeightUse& use : weights) {
      if (use.streamed) {
        figures.streamed_bytes += use.encoding.bytes;
      } else if (services_.weights->find(use.view, use.encoding) == nullptr) {
        figures.missing_weight_bytes += use.encoding.bytes;
      }
    }
    return figures;
  };
  PlanFigures figures;
  if (!instance_->complete()) {
    const PlanAhead ahead = plan_ahead(choice);
    figures = figures_of(ahead.weights, ahead.activation_bytes);
  } else if (first_ != nullptr && choice == choice_) {
    figures = figures_of(first_->plan.weights, first_->plan.arena_bytes);
  } else {
    const StagePlan plan = plan_program(choice);
    figures = figures_of(plan.weights, plan.arena_bytes);
  }
  figures_.emplace_back(choice, figures);
  return figures;
}

std::size_t Execution::streamable_weights() {
  specialise();
  const StagePlan resident = plan_stage(instance_->program(), stage_options(true));
  return streaming_order(resident).size() + (instance_->complete() ? 0 : 1);
}

std::expected<void, Refusal> Execution::load() {
  (void)plan_first_stage();
  return load(*first_);
}

std::expected<void, Refusal> Execution::load(Stage& stage) {
  if (stage.loaded) return {};
  std::uint64_t total = 0;
  std::uint64_t done = 0;
  bool missing = false;
  for (const WeightUse& use : stage.plan.weights) {
    if (use.streamed) continue;
    total += use.encoding.bytes;
    missing = missing || services_.weights->find(use.view, use.encoding) == nullptr;
  }
  memory::Block window;
  if (missing) {
    auto block = memory::Block::allocate(*services_.budget, choice_.window_bytes, "window");
    if (!block) return std::unexpected(std::move(block.error()));
    window = std::move(*block);
  }
  stage.weights.clear();
  for (const WeightUse& use : stage.plan.weights) {
    check_cancelled();
    if (use.streamed) {
      stage.weights.emplace_back();
      continue;
    }
    auto weight = services_.weights->get(use.view, use.encoding, window.bytes());
    if (!weight) return std::unexpected(std::move(weight.error()));
    stage.weights.push_back(std::move(*weight));
    done += use.encoding.bytes;
    if (services_.progress && total != 0) {
      services_.progress("encode", static_cast<double>(done) / static_cast<double>(total));
    }
  }
  stage.loaded = true;
  figures_.clear();  // what is missing has changed
  return {};
}

/// The staging memory of streamed weights.
std::expected<void, Refusal> Execution::prepare_window(const Stage& stage) {
  if (stage.plan.streamed_bytes == 0 || window_.size() >= choice_.window_bytes) return {};
  auto block = memory::Block::allocate(*services_.budget, choice_.window_bytes, "window");
  if (!block) return std::unexpected(std::move(block.error()));
  window_ = std::move(*block);
  return {};
}

void Execution::encode_streamed(const StageMemory& memory, const StagePlan& plan,
                                const PlannedStep& step) {
  for (const Place& place : step.inputs) {
    if (place.kind != Place::Kind::streamed || place.part_columns != 0) continue;
    const WeightUse& use = plan.weights[place.index];
    std::memset(memory.arena + place.offset, 0, use.encoding.bytes);
    encode_weight(use.view, use.encoding, window_.bytes(), memory.arena + place.offset);
  }
}

std::expected<void, Refusal> Execution::run() {
  (void)plan_first_stage();
  profile_.clear();
  forget_outputs();
  refused_in_last_stage_ = false;
  struct Cleanup {
    Execution* execution;
    ~Cleanup() {
      if (execution != nullptr) execution->release_memory();
    }
  } unless_done{this};
  std::string stage_name;  // of later stages: what they waited for
  try {
    Stage* stage = first_.get();
    std::unique_ptr<Stage> later;
    for (;;) {
      const bool last = instance_->complete();
      auto done = load(*stage);
      if (done && services_.begin_phase) services_.begin_phase("run");
      if (done) done = run_stage(*stage, last);
      if (!done) {
        refused_in_last_stage_ = last;
        throw OutOfBudget{std::move(done.error())};
      }
      if (last) break;
      if (!ran_past_first_) reveal_inputs();
      ran_past_first_ = true;
      bool progressed = !stage->plan.steps.empty();
      // Sequences and loops run as long as any is ready; then the next stage is specialised.
      for (;;) {
        const std::vector<ProgramNode> ready = instance_->take_ready_dynamic();
        if (ready.empty()) break;
        for (const ProgramNode& node : ready) run_dynamic(node);
        progressed = true;
      }
      stage_name = instance_->waiting_for();
      Program& program = instance_->advance();
      prepare_program(program, services_);
      if (!progressed && program.nodes.empty() && !instance_->complete()) {
        fail_internal("the model cannot go on: " + stage_name);
      }
      later = std::make_unique<Stage>();
      later->plan = plan_stage(program, stage_options(false), choice_, false);
      if (!last && stage == first_.get()) first_->arena.reset();
      stage = later.get();
    }
    collect_outputs();
    if (later != nullptr) last_stage_ = std::move(later);
  } catch (OutOfBudget& refused) {
    if (refused.refusal.stage.empty()) refused.refusal.stage = std::move(stage_name);
    return std::unexpected(std::move(refused.refusal));
  }
  unless_done.execution = nullptr;
  return {};
}

void Execution::forget_outputs() {
  outputs_.clear();
  outputs_stage_.reset();
  outputs_instance_.reset();
  last_stage_.reset();
}

std::expected<void, Refusal> Execution::run_stage(Stage& stage, bool last) {
  if (auto window = prepare_window(stage); !window) return window;
  if (stage.arena.size() < stage.plan.arena_bytes) {
    auto block = memory::Block::allocate(*services_.budget, stage.plan.arena_bytes, "activations");
    if (!block) return std::unexpected(std::move(block.error()));
    stage.arena = std::move(*block);
  }
  run_steps(stage);
  Program& program = instance_->program();
  for (const auto& [id, place] : stage.plan.live_out) {
    const ProgramValue value = program.values[id];
    const std::byte* from = nullptr;
    switch (place.kind) {
      case Place::Kind::arena:
        from = stage.arena.data() + place.offset;
        break;
      case Place::Kind::constant:
        from = place.memory;
        break;
      case Place::Kind::external:
        from = external_memory(stage.plan.externals[place.index]);
        break;
      case Place::Kind::weight:
        from = stage.weights[place.index]->data();
        break;
      case Place::Kind::streamed:  // only kernels and operators read those
      case Place::Kind::none:
        continue;
    }
    if (last) {
      instance_->materialise(id, value.type, from, false);
      continue;
    }
    auto copy = allocate(value.type, fmt::format("'{}' between stages", value.name));
    if (const std::size_t bytes = type_bytes(value.type); bytes != 0) {
      std::memcpy(copy->data(), from, bytes);
    }
    keep(id, std::move(copy));
  }
  return {};
}

std::byte* Execution::external_memory(ValueId id) const {
  for (std::size_t index = 0; index < graph_->inputs.size(); ++index) {
    if (instance_->resolve(instance_->program_value(graph_->inputs[index])) == id) {
      // Inputs are only read; kernels take one pointer type for all operands.
      return const_cast<std::byte*>(inputs_[index].data);  // NOLINT
    }
  }
  const std::vector<ValueId> outputs = instance_->outputs();
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    if (outputs[index] != id || output_memory_[index].data == nullptr) continue;
    check_output(index, instance_->program().values[id].type);
    return output_memory_[index].data;
  }
  fail_internal("an external value has no memory");
}

void Execution::run_steps(Stage& stage) {
  const Program& program = instance_->program();
  std::vector<std::byte*> externals;
  externals.reserve(stage.plan.externals.size());
  for (ValueId id : stage.plan.externals) externals.push_back(external_memory(id));
  const StageMemory memory{program, stage.arena.data(), externals, stage.weights};
  const double origin = now_seconds();
  const std::size_t count = stage.plan.steps.size();
  auto group = stage.plan.groups.begin();
  for (std::size_t number = 0; number < count;) {
    check_cancelled();
    if (group != stage.plan.groups.end() && group->first == number) {
      for (std::size_t step = group->first; step < group->last; ++step) {
        encode_streamed(memory, stage.plan, stage.plan.steps[step]);
      }
      run_group(memory, stage.plan, *group, origin);
      number = group->last;
      ++group;
    } else {
      encode_streamed(memory, stage.plan, stage.plan.steps[number]);
      run_step(memory, stage.plan, stage.plan.steps[number], origin);
      ++number;
    }
    services_.budget->sample();
    fraction_ = static_cast<double>(number) / static_cast<double>(count);
    if (services_.progress) services_.progress("run", fraction_);
  }
}

void Execution::run_step(const StageMemory& memory, const StagePlan& plan, const PlannedStep& step,
                         double origin) {
  const ProgramNode& node = memory.program.nodes[step.node];
  std::vector<KernelOperand> inputs;
  std::vector<KernelOperand> outputs;
  inputs.reserve(step.inputs.size());
  outputs.reserve(step.outputs.size());
  for (std::size_t index = 0; index < step.inputs.size(); ++index) {
    inputs.push_back(memory.operand(step.inputs[index], node.inputs[index]));
  }
  for (std::size_t index = 0; index < step.outputs.size(); ++index) {
    outputs.push_back(memory.operand(step.outputs[index], node.outputs[index]));
  }
  const std::span<std::byte> scratch(memory.arena + step.scratch_offset, step.scratch_bytes);
  const double begin = profiling_ ? now_seconds() : 0;
  try {
    if (node.kernel != nullptr) {
      run_kernel(memory, plan, step, {inputs, outputs, scratch, *services_.threads});
    } else {
      StepContext context(*node.definition, inputs, outputs, scratch, *services_.threads);
      node.op->run(context);
    }
  } catch (Error& error) {
    error.add_context(node.label());
    throw;
  }
  if (profiling_) add_profile(node, step, begin - origin, now_seconds() - begin);
}

/// Runs a kernel whole, or part by part where its weight comes in parts.
void Execution::run_kernel(const StageMemory& memory, const StagePlan& plan,
                           const PlannedStep& step, const KernelContext& context) {
  const KernelNode& kernel = *memory.program.nodes[step.node].kernel;
  const std::int64_t columns = step.inputs.size() > 1 ? step.inputs[1].part_columns : 0;
  if (columns == 0) {
    kernel.run(context);
    return;
  }
  const WeightUse& use = plan.weights[step.inputs[1].index];
  for (std::int64_t first = 0; first < use.encoding.n; first += columns) {
    check_cancelled();
    const std::int64_t count = std::min(columns, use.encoding.n - first);
    encode_columns(use.view, use.encoding, first, count, window_.bytes(), context.inputs[1].data);
    kernel.run_columns(context, first, count);
  }
}

void Execution::add_profile(const ProgramNode& node, const PlannedStep& step, double begin,
                            double seconds) {
  profile_.push_back({node.label(), node.kernel ? node.kernel->name : node.definition->op_type,
                      begin, seconds, step.output_bytes});
}

void Execution::run_group(const StageMemory& memory, const StagePlan& plan,
                          const PlannedGroup& group, double origin) {
  const double begin = profiling_ ? now_seconds() : 0;
  std::vector<double> seconds(group.last - group.first, 0);
  StripHooks hooks;
  hooks.before_round = [this] { check_cancelled(); };
  if (profiling_) {
    hooks.timed = [&seconds](std::size_t step, double took) { seconds[step] += took; };
  }
  run_strips(memory, plan, group, *services_.threads, hooks);
  if (!profiling_) return;
  // The steps took turns; in the picture each has its sum, one after the other.
  double at = begin - origin;
  for (std::size_t step = 0; step < seconds.size(); ++step) {
    const PlannedStep& planned = plan.steps[group.first + step];
    add_profile(memory.program.nodes[planned.node], planned, at, seconds[step]);
    at += seconds[step];
  }
}

void Execution::collect_outputs() {
  const std::vector<ValueId> ids = instance_->outputs();
  Program& program = instance_->program();
  for (std::size_t index = 0; index < ids.size(); ++index) {
    const ValueId id = ids[index];
    const ProgramValue& value = program.values[id];
    ExecutionValue output;
    output.type = value.type;
    if (value.dynamic) {
      const DynamicValue dynamic = dynamic_value(id);
      output.absent = std::holds_alternative<std::monostate>(dynamic);
      if (const auto* sequence = std::get_if<std::shared_ptr<const SequenceValue>>(&dynamic)) {
        output.sequence = *sequence;
      }
      outputs_.push_back(std::move(output));
      continue;
    }
    if (id < kept_.size() && kept_[id]) output.owner = kept_[id];
    switch (value.kind) {
      case ValueKind::materialised:
        output.data = value.memory;
        break;
      case ValueKind::constant:
        output.data = value.constant->data();
        break;
      case ValueKind::input:
        output.data = external_memory(id);
        break;
      default: {
        const DynamicValue loaded = dynamic_value(id);
        output.owner = std::get<std::shared_ptr<const OwnedTensor>>(loaded);
        output.data = output.owner->data();
      }
    }
    std::byte* const memory = output_memory_[index].data;
    if (memory != nullptr && memory != output.data) {
      check_output(index, output.type);
      if (const std::size_t bytes = type_bytes(output.type); bytes != 0) {
        std::memcpy(memory, output.data, bytes);
      }
      output.data = memory;
    }
    outputs_.push_back(std::move(output));
  }
}

void Execution::release_memory() {
  window_.reset();
  forget_outputs();
  if (first_ != nullptr) first_->arena.reset();
  kept_.clear();
  sequences_.clear();
  bodies_.clear();
  if (ran_past_first_) {
    first_.reset();
    instance_.reset();
  }
}

}  // namespace plimsoll::tensor
