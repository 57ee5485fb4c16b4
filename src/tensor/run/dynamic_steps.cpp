// Sequences, optionals and loops within a run. Why it exists: they have no size before they run, so
// they are executed between planned stages, with memory reserved as they ask for it; a loop's body
// is an execution of its own. May touch: execution.h.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plimsoll/error.h"
#include "tensor/run/execution.h"

namespace plimsoll::tensor {

std::shared_ptr<OwnedTensor> Execution::allocate(const TensorType& type, std::string_view purpose) {
  auto tensor = std::make_shared<OwnedTensor>();
  tensor->type = type;
  const std::uint64_t bytes =
      checked_bytes(type.shape, element_size(type.element), "a computed tensor");
  if (bytes >= memory::smallest_block_bytes) {
    auto block = memory::Block::allocate(*services_.budget, bytes, purpose);
    if (!block) {
      throw OutOfBudget{std::move(block.error())};
    }
    tensor->block = std::move(*block);
  } else {
    tensor->heap.resize(std::max<std::uint64_t>(bytes, 1));
  }
  return tensor;
}

void Execution::keep(ValueId id, std::shared_ptr<const OwnedTensor> tensor) {
  instance_->materialise(id, tensor->type, tensor->data(), false);
  if (kept_.size() <= id) kept_.resize(id + 1);
  kept_[id] = std::move(tensor);
}

DynamicValue Execution::dynamic_value(ValueId id) {
  const ProgramValue& value = instance_->program().values[id];
  if (id < absent_optional_.size() && absent_optional_[id]) return std::monostate{};
  if (id < sequences_.size() && sequences_[id]) return sequences_[id];
  if (id < kept_.size() && kept_[id]) return kept_[id];
  for (std::size_t index = 0; index < inputs_.size(); ++index) {
    if (instance_->resolve(instance_->program_value(graph_->inputs[index])) != id) continue;
    if (inputs_[index].absent) return std::monostate{};
    if (inputs_[index].sequence) return inputs_[index].sequence;
    if (inputs_[index].owner) return inputs_[index].owner;
    auto view = std::make_shared<OwnedTensor>();  // of the caller's memory
    view->type = value.type;
    view->borrowed = inputs_[index].data;
    if (view->borrowed == nullptr) view->heap.resize(1);  // an empty one may have no memory
    return std::shared_ptr<const OwnedTensor>(std::move(view));
  }
  auto copy = allocate(value.type, "an operand of a loop or sequence");
  const std::size_t bytes = type_bytes(value.type);
  if (auto known = known_value(instance_->program(), id)) {
    if (bytes != 0) std::memcpy(copy->data(), known->data, bytes);
  } else if (value.kind == ValueKind::weight) {
    std::vector<std::byte> window(64 * 1024);
    encode_weight(*value.weight, plain_encoding(value.type), window, copy->data());
  } else {
    fail_internal(fmt::format("value '{}' is not there", value.name));
  }
  return std::shared_ptr<const OwnedTensor>(std::move(copy));
}

/// A dynamic operator's view of the execution.
class Execution::DynamicNodeContext : public DynamicContext {
 public:
  DynamicNodeContext(Execution& execution, const ProgramNode& node)
      : execution_(execution), node_(node) {}
  [[nodiscard]] const Node& node() const override { return *node_.definition; }
  [[nodiscard]] DynamicValue input(std::size_t index) const override {
    if (index >= node_.inputs.size() || node_.inputs[index] == no_value) return std::monostate{};
    auto& cached = cache_[index];
    if (!cached) cached = execution_.dynamic_value(node_.inputs[index]);
    return *cached;
  }
  [[nodiscard]] std::shared_ptr<OwnedTensor> allocate(const TensorType& type) override {
    return execution_.allocate(type, node_.label());
  }
  void set_output(std::size_t index, DynamicValue value) override {
    if (index < node_.outputs.size() && node_.outputs[index] != no_value) {
      execution_.store(node_.outputs[index], std::move(value));
    }
  }
  [[nodiscard]] std::vector<DynamicValue> run_subgraph(const Graph& graph,
                                                       std::vector<DynamicValue> inputs) override {
    return execution_.run_body(node_, graph, std::move(inputs));
  }
  [[nodiscard]] kernels::ThreadPool& threads() override { return *execution_.services_.threads; }

 private:
  Execution& execution_;
  const ProgramNode& node_;
  mutable std::map<std::size_t, std::optional<DynamicValue>> cache_;
};

void Execution::store(ValueId id, DynamicValue value) {
  const std::size_t size = instance_->program().values.size();
  if (auto* tensor = std::get_if<std::shared_ptr<const OwnedTensor>>(&value)) {
    keep(id, std::move(*tensor));
    return;
  }
  if (auto* sequence = std::get_if<std::shared_ptr<const SequenceValue>>(&value)) {
    if (sequences_.size() < size) sequences_.resize(size);
    instance_->materialise(id, {(*sequence)->element, {}}, nullptr, true);
    sequences_[id] = std::move(*sequence);
    return;
  }
  if (absent_optional_.size() < size) absent_optional_.resize(size, false);
  absent_optional_[id] = true;
  instance_->materialise(id, {}, nullptr, true);
}

void Execution::run_dynamic(const ProgramNode& node) {
  try {
    check_cancelled();
    DynamicNodeContext context(*this, node);
    node.op->execute(context);
  } catch (OutOfBudget& refused) {
    std::string& stage = refused.refusal.stage;
    stage = stage.empty() ? node.label() : fmt::format("{}: {}", node.label(), stage);
    throw;
  } catch (Error& error) {
    error.add_context(node.label());
    throw;
  }
}

std::vector<DynamicValue> Execution::run_body(const ProgramNode& node, const Graph& body,
                                              std::vector<DynamicValue> inputs) {
  // The body's inputs and its captures are the inputs of a graph of their own.
  BodyRun& run = bodies_[&body];
  if (run.execution == nullptr) {
    auto graph = std::make_shared<Graph>(body);
    for (const Capture& capture : body.captures) graph->inputs.push_back(capture.inner);
    graph->captures.clear();
    ExecutionServices services = services_;
    // A loop may take long: each round says that it lives, not how far it is.
    if (services_.progress) {
      services.progress = [this](std::string_view phase, double /*fraction*/) {
        services_.progress(phase, fraction_);
      };
    }
    services.begin_phase = nullptr;
    run.execution = std::make_unique<Execution>(std::move(graph), std::move(services));
  }
  for (ValueId id : instance_->captures_of(node, body)) inputs.push_back(dynamic_value(id));
  if (inputs.size() != run.execution->inputs_.size()) {
    fail_input(fmt::format("its body has {} inputs, {} are given", run.execution->inputs_.size(),
                           inputs.size()));
  }
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    ExecutionValue value;
    if (auto* tensor = std::get_if<std::shared_ptr<const OwnedTensor>>(&inputs[index])) {
      value.type = (*tensor)->type;
      value.data = (*tensor)->data();
      value.owner = *tensor;
    } else if (auto* sequence = std::get_if<std::shared_ptr<const SequenceValue>>(&inputs[index])) {
      value.sequence = *sequence;
    } else {
      value.absent = true;
    }
    run.execution->set_input(index, value, true);
  }
  if (auto ran = run.execution->run(); !ran) throw OutOfBudget{std::move(ran.error())};
  std::vector<DynamicValue> results;
  for (const ExecutionValue& output : run.execution->outputs()) {
    if (output.absent) {
      results.emplace_back(std::monostate{});
    } else if (output.sequence) {
      results.emplace_back(output.sequence);
    } else if (output.owner) {
      results.emplace_back(output.owner);
    } else {
      auto copy = allocate(output.type, "a loop's result");
      if (const std::size_t bytes = type_bytes(output.type); bytes != 0) {
        std::memcpy(copy->data(), output.data, bytes);
      }
      results.emplace_back(std::shared_ptr<const OwnedTensor>(std::move(copy)));
    }
  }
  return results;
}

}  // namespace plimsoll::tensor
