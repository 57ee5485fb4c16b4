#include "support/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace plimsoll::tensor::test {
namespace {

constexpr std::byte unwritten{0xCD};

using Values = std::vector<std::optional<DynamicValue>>;

const DynamicValue& value_of(const Values& values, ValueId id) {
  if (!values[id]) fail_internal(fmt::format("value {} is read before it is computed", id));
  return *values[id];
}

const OwnedTensor& tensor_of(const Values& values, ValueId id) {
  const auto* found = std::get_if<std::shared_ptr<const OwnedTensor>>(&value_of(values, id));
  if (found == nullptr) fail_input("a tensor is needed, the value is a sequence or empty");
  return **found;
}

class NodeInferContext : public InferContext {
 public:
  NodeInferContext(const Node& node, const Values& values)
      : node_(node), values_(values), outputs(node.outputs.size()) {}
  [[nodiscard]] const Node& node() const override { return node_; }
  [[nodiscard]] const TensorType& input(std::size_t index) const override {
    if (!has_input(index)) fail_input(fmt::format("input {} is missing", index));
    return tensor_of(values_, node_.inputs[index]).type;
  }
  [[nodiscard]] std::optional<ConstTensorView> known_value(std::size_t index) const override {
    if (!has_input(index)) return std::nullopt;
    return tensor_of(values_, node_.inputs[index]).view();
  }
  void set_output(std::size_t index, ElementType element, const Shape& shape) override {
    if (index < outputs.size()) outputs[index] = TensorType{element, shape};
  }

 private:
  const Node& node_;
  const Values& values_;

 public:
  std::vector<std::optional<TensorType>> outputs;
};

class NodeRunContext : public RunContext {
 public:
  NodeRunContext(const Node& node, const Values& values, kernels::ThreadPool& threads)
      : node_(node), values_(values), threads_(threads) {}
  [[nodiscard]] const Node& node() const override { return node_; }
  [[nodiscard]] ConstTensorView input(std::size_t index) const override {
    if (index == replaced) return replacement;
    return tensor_of(values_, node_.inputs.at(index)).view();
  }
  [[nodiscard]] TensorView output(std::size_t index) const override {
    return outputs.at(index)->view();
  }
  [[nodiscard]] std::span<std::byte> scratch() const override { return scratch_bytes; }
  [[nodiscard]] kernels::ThreadPool& threads() const override { return threads_; }

 private:
  const Node& node_;
  const Values& values_;
  kernels::ThreadPool& threads_;

 public:
  std::vector<std::shared_ptr<OwnedTensor>> outputs;
  std::span<std::byte> scratch_bytes;
  std::size_t replaced = SIZE_MAX;  // the input that shares memory with output 0
  ConstTensorView replacement;
};

/// Whether output 0 may take the memory of the input that the operator names.
bool fits_in_place(const Node& node, const Operator& op, const Values& values,
                   const TensorType& output) {
  if (op.in_place_input < 0) return false;
  const auto index = static_cast<std::size_t>(op.in_place_input);
  if (index >= node.inputs.size() || node.inputs[index] == no_value) return false;
  if (std::ranges::count(node.inputs, node.inputs[index]) != 1) return false;
  const ConstTensorView input = tensor_of(values, node.inputs[index]).view();
  return input.bytes() == checked_bytes(output.shape, element_size(output.element), "output");
}

}  // namespace

/// What a dynamic operator sees; its subgraphs run in the interpreter.
class SubgraphContext : public DynamicContext {
 public:
  SubgraphContext(Interpreter& interpreter, const Node& node, Values& values)
      : interpreter_(interpreter), node_(node), values_(values) {}
  [[nodiscard]] const Node& node() const override { return node_; }
  [[nodiscard]] DynamicValue input(std::size_t index) const override {
    if (!has_input(index)) fail_input(fmt::format("input {} is missing", index));
    return value_of(values_, node_.inputs[index]);
  }
  [[nodiscard]] std::shared_ptr<OwnedTensor> allocate(const TensorType& type) override {
    return make_tensor(type);
  }
  void set_output(std::size_t index, DynamicValue value) override {
    if (index < node_.outputs.size() && node_.outputs[index] != no_value) {
      values_[node_.outputs[index]] = std::move(value);
    }
  }
  [[nodiscard]] std::vector<DynamicValue> run_subgraph(const Graph& graph,
                                                       std::vector<DynamicValue> inputs) override {
    return interpreter_.run_scope(graph, std::move(inputs), &values_);
  }
  [[nodiscard]] kernels::ThreadPool& threads() override { return interpreter_.threads_; }

 private:
  Interpreter& interpreter_;
  const Node& node_;
  Values& values_;
};

std::shared_ptr<OwnedTensor> make_tensor(const TensorType& type) {
  auto tensor = std::make_shared<OwnedTensor>();
  tensor->type = type;
  tensor->heap.assign(checked_bytes(type.shape, element_size(type.element), "tensor"), unwritten);
  return tensor;
}

std::shared_ptr<OwnedTensor> copy_of(const ConstTensorView& view) {
  auto tensor = make_tensor({view.type, view.shape});
  if (view.bytes() != 0) std::memcpy(tensor->data(), view.data, view.bytes());
  return tensor;
}

std::shared_ptr<OwnedTensor> read_stored(const StoredTensor& stored) {
  if (element_size(stored.type) == 0) {
    fail_unsupported(
        fmt::format("tensor '{}' has elements of type {}", stored.name, element_name(stored.type)));
  }
  auto tensor = make_tensor({stored.type, stored.shape});
  stored.read(0, stored.shape.elements(), tensor->data());
  return tensor;
}

Interpreter::Interpreter(Options options, const OperatorTable& table)
    : options_(options), table_(table), threads_(options.threads) {}

std::vector<DynamicValue> Interpreter::run(const Graph& graph, std::vector<DynamicValue> inputs) {
  return run_scope(graph, std::move(inputs), nullptr);
}

std::vector<DynamicValue> Interpreter::run_scope(const Graph& graph,
                                                 std::vector<DynamicValue> inputs,
                                                 const Values* outer) {
  if (inputs.size() != graph.inputs.size()) {
    fail_input(fmt::format("graph '{}' has {} inputs, {} were given", graph.name,
                           graph.inputs.size(), inputs.size()));
  }
  Values values(graph.values.size());
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    values[graph.inputs[index]] = std::move(inputs[index]);
  }
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].stored != nullptr) values[id] = read_stored(*graph.values[id].stored);
  }
  for (const Capture& capture : graph.captures) {
    values[capture.inner] = value_of(*outer, capture.outer);
  }
  for (const Node& node : graph.nodes) {
    try {
      run_node(graph, node, values);
    } catch (Error& error) {
      error.add_context(node.label());
      throw;
    }
  }
  std::vector<DynamicValue> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(value_of(values, id));
  return outputs;
}

void Interpreter::run_node(const Graph& /*graph*/, const Node& node, Values& values) {
  if (node.domain.empty() && node.op_type == "If") return run_branch(node, values);
  if (node.domain.empty() && node.op_type == "Identity" && !node.inputs.empty()) {
    // Sequences and optionals pass too, which the planned operator does not take.
    values[node.outputs.at(0)] = value_of(values, node.inputs[0]);
    return;
  }
  const Operator* op = table_.find(node.domain, node.op_type, node.opset);
  if (op == nullptr) {
    fail_unsupported(fmt::format("operator '{}' of domain '{}', version {}", node.op_type,
                                 node.domain, node.opset));
  }
  if (op->execute != nullptr) {
    SubgraphContext context(*this, node, values);
    op->execute(context);
  } else {
    run_planned(node, *op, values);
  }
}

void Interpreter::run_branch(const Node& node, Values& values) {
  const ConstTensorView condition = tensor_of(values, node.inputs.at(0)).view();
  if (condition.type != ElementType::boolean || condition.elements() != 1) {
    fail_input("the condition must be one boolean");
  }
  const bool taken = *condition.as<std::uint8_t>() != 0;
  const auto branch = node.graph(taken ? "then_branch" : "else_branch");
  std::vector<DynamicValue> results = run_scope(*branch, {}, &values);
  for (std::size_t index = 0; index < node.outputs.size(); ++index) {
    if (node.outputs[index] != no_value) values[node.outputs[index]] = results.at(index);
  }
}

void Interpreter::run_planned(const Node& node, const Operator& op, Values& values) {
  NodeInferContext infer(node, values);
  op.infer(infer);
  const std::uint64_t scratch_bytes = op.scratch != nullptr ? op.scratch(infer) : 0;
  std::vector<std::byte> scratch(scratch_bytes + 63, unwritten);
  NodeRunContext context(node, values, threads_);
  const auto start = reinterpret_cast<std::uintptr_t>(scratch.data());
  context.scratch_bytes = std::span(scratch).subspan((64 - start % 64) % 64, scratch_bytes);
  for (std::size_t index = 0; index < node.outputs.size(); ++index) {
    context.outputs.push_back(nullptr);
    if (node.outputs[index] == no_value) continue;
    if (!infer.outputs[index]) {
      fail_internal(fmt::format("inference left output {} without a type", index));
    }
    const TensorType& type = *infer.outputs[index];
    if (index == 0 && options_.in_place && fits_in_place(node, op, values, type)) {
      const auto shared = static_cast<std::size_t>(op.in_place_input);
      const ConstTensorView input = tensor_of(values, node.inputs[shared]).view();
      context.outputs[0] = copy_of(input);
      context.replaced = shared;
      context.replacement = {input.type, input.shape, context.outputs[0]->data()};
      context.outputs[0]->type = type;
    } else {
      context.outputs[index] = make_tensor(type);
    }
  }
  op.run(context);
  for (std::size_t index = 0; index < node.outputs.size(); ++index) {
    if (context.outputs[index]) values[node.outputs[index]] = context.outputs[index];
  }
}

}  // namespace plimsoll::tensor::test
