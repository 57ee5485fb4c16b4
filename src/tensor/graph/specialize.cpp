#include "tensor/graph/specialize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace plimsoll::tensor {

bool is_small_input(const TensorType& type) {
  const bool whole = !is_floating(type.element) && type.element != ElementType::string;
  return whole && type.shape.rank() <= 1 && type.shape.elements() <= 16;
}

std::optional<ConstTensorView> known_value(Program& program, ValueId id) {
  ProgramValue& value = program.values[id];
  if (value.constant)
    return ConstTensorView{value.type.element, value.type.shape, value.constant->data()};
  if (value.kind == ValueKind::materialised && value.memory != nullptr) {
    return ConstTensorView{value.type.element, value.type.shape, value.memory};
  }
  if (value.kind == ValueKind::weight && value.weight->dense() &&
      value.weight->type.element == value.weight->stored->type &&
      checked_bytes(value.type.shape, element_size(value.type.element), value.name.c_str()) <=
          fold_limit_bytes &&
      !std::holds_alternative<Unbound>(value.weight->stored->source)) {
    auto bytes = std::make_shared<std::vector<std::byte>>(value.weight->stored->bytes());
    value.weight->stored->read(0, value.type.shape.elements(), bytes->data());
    value.constant = bytes;
    return ConstTensorView{value.type.element, value.type.shape, bytes->data()};
  }
  return std::nullopt;
}

/// The planner's view of one node during inference.
class SpecializeInferContext : public InferContext {
 public:
  SpecializeInferContext(Program& program, const Node& node, const std::vector<ValueId>& inputs)
      : program_(program), node_(node), inputs_(inputs), outputs_(node.outputs.size()) {}

  [[nodiscard]] const Node& node() const override { return node_; }
  [[nodiscard]] const TensorType& input(std::size_t index) const override {
    if (index >= inputs_.size() || inputs_[index] == no_value) {
      fail_input(fmt::format("input {} is missing", index));
    }
    return program_.values[inputs_[index]].type;
  }
  [[nodiscard]] std::optional<ConstTensorView> known_value(std::size_t index) const override {
    if (index >= inputs_.size() || inputs_[index] == no_value) return std::nullopt;
    return tensor::known_value(program_, inputs_[index]);
  }
  void set_output(std::size_t index, ElementType element, const Shape& shape) override {
    if (index < outputs_.size()) outputs_[index] = TensorType{element, shape};
  }
  [[nodiscard]] const std::vector<std::optional<TensorType>>& outputs() const { return outputs_; }

 private:
  Program& program_;
  const Node& node_;
  const std::vector<ValueId>& inputs_;
  std::vector<std::optional<TensorType>> outputs_;
};

namespace {

/// Runs one operator on known bytes; the outputs are heap vectors of the inferred size.
class FoldContext : public RunContext {
 public:
  FoldContext(const Node& node, std::vector<std::optional<ConstTensorView>> inputs,
              std::vector<std::optional<TensorView>> outputs, std::span<std::byte> scratch,
              kernels::ThreadPool& threads)
      : node_(node),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        scratch_(scratch),
        threads_(threads) {}
  [[nodiscard]] const Node& node() const override { return node_; }
  [[nodiscard]] ConstTensorView input(std::size_t index) const override {
    return inputs_[index].value();
  }
  [[nodiscard]] TensorView output(std::size_t index) const override {
    return outputs_[index].value();
  }
  [[nodiscard]] std::span<std::byte> scratch() const override { return scratch_; }
  [[nodiscard]] kernels::ThreadPool& threads() const override { return threads_; }

 private:
  const Node& node_;
  std::vector<std::optional<ConstTensorView>> inputs_;
  std::vector<std::optional<TensorView>> outputs_;
  std::span<std::byte> scratch_;
  kernels::ThreadPool& threads_;
};

bool reads_shape_only(const Node& node) {
  return node.domain.empty() && (node.op_type == "Shape" || node.op_type == "Size");
}
bool is_random(const Node& node) {
  return node.op_type.starts_with("Random") || node.op_type == "Bernoulli" ||
         node.op_type == "Multinomial";
}

}  // namespace

Instance::Instance(std::shared_ptr<const Graph> graph, const OperatorTable& table)
    : graph_(std::move(graph)), table_(table) {
  main_ = add_graph_values(graph_);
  add_nodes(graph_, std::make_shared<const std::vector<ValueId>>(main_), pending_);
}

std::vector<ValueId> Instance::add_graph_values(const std::shared_ptr<const Graph>& graph) {
  std::vector<ValueId> ids(graph->values.size());
  for (std::size_t index = 0; index < graph->values.size(); ++index) {
    const Value& source = graph->values[index];
    const auto id = static_cast<ValueId>(program_.values.size());
    ids[index] = id;
    ProgramValue value;
    value.name = source.name;
    if (source.stored) {
      value.kind = ValueKind::weight;
      value.weight = WeightView::of(source.stored);
      value.type = value.weight->type;
    }
    program_.values.push_back(std::move(value));
    alias_.push_back(id);
  }
  return ids;
}

void Instance::add_nodes(const std::shared_ptr<const Graph>& graph,
                         const std::shared_ptr<const std::vector<ValueId>>& scope,
                         std::vector<Pending>& destination) const {
  const auto map = [&](const std::vector<ValueId>& ids) {
    std::vector<ValueId> mapped;
    mapped.reserve(ids.size());
    for (ValueId id : ids) mapped.push_back(id == no_value ? no_value : (*scope)[id]);
    return mapped;
  };
  for (const Node& node : graph->nodes) {
    destination.push_back(
        {std::shared_ptr<const Node>(graph, &node), map(node.inputs), map(node.outputs), scope});
  }
}

ValueId Instance::resolve(ValueId value) const {
  while (value != no_value && alias_[value] != value) value = alias_[value];
  return value;
}

void Instance::set_input(ValueId graph_value, const InputFacts& facts) {
  ProgramValue& value = program_.values[main_[graph_value]];
  value.type = facts.type;
  value.kind = facts.dynamic ? ValueKind::materialised : ValueKind::input;
  value.dynamic = facts.dynamic;
  value.constant = nullptr;
  if (facts.value != nullptr) {
    const std::size_t bytes =
        static_cast<std::size_t>(facts.type.shape.elements()) * element_size(facts.type.element);
    value.constant =
        std::make_shared<const std::vector<std::byte>>(facts.value, facts.value + bytes);
  }
}

void Instance::materialise(ValueId id, const TensorType& type, const std::byte* memory,
                           bool dynamic) {
  ProgramValue& value = program_.values[id];
  value.type = type;
  value.kind = ValueKind::materialised;
  value.layout = Layout::row_major;
  value.memory = memory;
  value.dynamic = dynamic;
}

bool Instance::has_value(ValueId id) const {
  if (id == no_value) return true;
  return program_.values[id].kind != ValueKind::absent;
}

std::vector<ProgramNode> Instance::take_ready_dynamic() {
  std::vector<Pending> rest;
  std::vector<ProgramNode> ready;
  for (Pending& pending : pending_) {
    const Operator* op =
        table_.find(pending.node->domain, pending.node->op_type, pending.node->opset);
    bool is_ready = op != nullptr && op->execute != nullptr;
    if (is_ready) {
      std::vector<ValueId> reads;
      for (ValueId id : pending.inputs) {
        if (id != no_value) reads.push_back(resolve(id));
      }
      for (const auto& [key, attribute] : pending.node->attributes) {
        if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute)) {
          for (const Capture& capture : (*body)->captures) {
            reads.push_back(resolve((*pending.scope)[capture.outer]));
          }
        }
      }
      for (ValueId id : reads) {
        const ValueKind kind = program_.values[id].kind;
        if (kind == ValueKind::absent || kind == ValueKind::activation) is_ready = false;
      }
    }
    if (is_ready) {
      ProgramNode node{pending.node, op, nullptr, {}, pending.outputs};
      for (ValueId id : pending.inputs) node.inputs.push_back(resolve(id));
      scopes_.emplace(pending.node.get(), pending.scope);
      ready.push_back(std::move(node));
    } else {
      rest.push_back(std::move(pending));
    }
  }
  pending_ = std::move(rest);
  return ready;
}

std::vector<ValueId> Instance::captures_of(const ProgramNode& node, const Graph& body) const {
  std::vector<ValueId> result;
  const auto scope = scopes_.find(node.definition.get());
  for (const Capture& capture : body.captures) {
    result.push_back(resolve((*scope->second)[capture.outer]));
  }
  return result;
}

Program& Instance::advance() {
  // What the last stage computed and a later one reads has been materialised by the runner; the
  // rest of its activations is gone.
  for (ProgramValue& value : program_.values) {
    if (value.kind == ValueKind::activation) value.kind = ValueKind::absent;
  }
  program_.nodes.clear();
  waiting_for_.clear();
  std::vector<Pending> work = std::move(pending_);
  pending_.clear();
  std::vector<Pending> deferred;
  for (const Pending& pending : work) {
    try {
      if (process(pending, deferred) == Outcome::deferred) deferred.push_back(pending);
    } catch (Error& error) {
      error.add_context(pending.node->label());
      throw;
    }
  }
  pending_ = std::move(deferred);
  program_.live_out = outputs();
  for (ValueId id : pending_reads()) program_.live_out.push_back(id);
  std::ranges::sort(program_.live_out);
  const auto tail = std::ranges::unique(program_.live_out);
  program_.live_out.erase(tail.begin(), tail.end());
  std::erase_if(program_.live_out,
                [&](ValueId id) { return program_.values[id].kind != ValueKind::activation; });
  remove_dead_nodes();
  return program_;
}

Instance::Outcome Instance::process(const Pending& pending, std::vector<Pending>& deferred) {
  const Node& node = *pending.node;
  ProgramNode resolved{pending.node, nullptr, nullptr, {}, pending.outputs};
  for (ValueId id : pending.inputs) resolved.inputs.push_back(resolve(id));
  const auto defer = [&](std::string reason) {
    if (waiting_for_.empty()) waiting_for_ = fmt::format("{}: {}", node.label(), reason);
    return Outcome::deferred;
  };
  for (ValueId id : resolved.inputs) {
    if (!has_value(id)) return defer("waits for '" + program_.values[id].name + "'");
  }
  if (node.domain.empty() && node.op_type == "If") {
    if (inline_branch(pending, deferred)) return Outcome::done;
    return defer("its condition is computed by the model");
  }
  resolved.op = table_.find(node.domain, node.op_type, node.opset);
  if (resolved.op == nullptr) {
    fail_unsupported(
        fmt::format("operator '{}' of domain '{}' (opset {}) is not supported by this build; "
                    "'plimsoll inspect' "
                    "lists the operators a model needs",
                    node.op_type, node.domain.empty() ? "ai.onnx" : node.domain, node.opset));
  }
  if (resolved.op->execute != nullptr) return defer("runs between stages");
  for (ValueId id : resolved.inputs) {
    if (id != no_value && program_.values[id].weight) {
      const StoredTensor& stored = *program_.values[id].weight->stored;
      if (const auto* unreadable = std::get_if<Unreadable>(&stored.source)) {
        fail_unsupported(fmt::format("input '{}': {}", stored.name, unreadable->reason));
      }
    }
    if (id != no_value && program_.values[id].dynamic) {
      fail_input(
          fmt::format("input '{}' is a sequence, a tensor is needed", program_.values[id].name));
    }
  }
  if (node.domain.empty() && node.op_type == "Identity") {
    alias_[pending.outputs[0]] = resolved.inputs[0];
    return Outcome::done;
  }
  SpecializeInferContext context(program_, node, resolved.inputs);
  std::uint64_t scratch_bytes = 0;
  try {
    resolved.op->infer(context);
    if (resolved.op->scratch != nullptr) scratch_bytes = resolved.op->scratch(context);
  } catch (const ValueNeeded& needed) {
    const ValueId id =
        needed.input < resolved.inputs.size() ? resolved.inputs[needed.input] : no_value;
    return defer(fmt::format("its shape depends on the computed value '{}'",
                             id == no_value ? "?" : program_.values[id].name));
  }
  for (std::size_t index = 0; index < resolved.outputs.size(); ++index) {
    if (resolved.outputs[index] == no_value) continue;
    if (!context.outputs()[index]) {
      fail_internal(fmt::format("inference left output {} without a type", index));
    }
    ProgramValue& value = program_.values[resolved.outputs[index]];
    value.type = *context.outputs()[index];
    (void)checked_bytes(value.type.shape, element_size(value.type.element), value.name.c_str());
    value.kind = ValueKind::activation;
  }
  if (view_of_weight(Pending{pending.node, resolved.inputs, pending.outputs, nullptr})) {
    return Outcome::done;
  }
  if (fold(resolved, scratch_bytes)) return Outcome::done;
  program_.nodes.push_back(std::move(resolved));
  return Outcome::done;
}

bool Instance::inline_branch(const Pending& pending, std::vector<Pending>& deferred) {
  const ValueId id = resolve(pending.inputs.at(0));
  const auto condition = known_value(program_, id);
  const bool may_assume = decide_ && program_.values[id].kind == ValueKind::materialised;
  if (!condition && !may_assume) return false;
  const TensorType& type = program_.values[id].type;
  if (type.element != ElementType::boolean || type.shape.elements() != 1) {
    fail_input("the condition must be one boolean");
  }
  const bool taken = condition ? *condition->as<std::uint8_t>() != 0 : decide_(*pending.node);
  const std::shared_ptr<const Graph> branch =
      pending.node->graph(taken ? "then_branch" : "else_branch");
  std::vector<ValueId> ids = add_graph_values(branch);
  for (const Capture& capture : branch->captures) {
    alias_[ids[capture.inner]] = resolve((*pending.scope)[capture.outer]);
  }
  if (branch->outputs.size() < pending.outputs.size()) {
    fail_input(fmt::format("the branch has {} outputs, the node {}", branch->outputs.size(),
                           pending.outputs.size()));
  }
  for (std::size_t index = 0; index < pending.outputs.size(); ++index) {
    if (pending.outputs[index] != no_value) {
      alias_[pending.outputs[index]] = ids[branch->outputs[index]];
    }
  }
  std::vector<Pending> nodes;
  add_nodes(branch, std::make_shared<const std::vector<ValueId>>(std::move(ids)), nodes);
  for (const Pending& inner : nodes) {
    if (process(inner, deferred) == Outcome::deferred) deferred.push_back(inner);
  }
  return true;
}

bool Instance::view_of_weight(const Pending& pending) {
  const Node& node = *pending.node;
  if (!node.domain.empty() || pending.inputs.empty() || pending.inputs[0] == no_value ||
      pending.outputs.empty()) {
    return false;
  }
  const ProgramValue& source = program_.values[pending.inputs[0]];
  if (source.kind != ValueKind::weight) return false;
  ProgramValue& result = program_.values[pending.outputs[0]];
  std::optional<WeightView> view;
  if (node.op_type == "Transpose") {
    std::vector<std::int64_t> permutation = node.integers("perm");
    if (permutation.empty()) {
      for (std::size_t axis = source.type.shape.rank(); axis-- > 0;) {
        permutation.push_back(static_cast<std::int64_t>(axis));
      }
    }
    view = source.weight->transposed(permutation);
  } else if (node.op_type == "Reshape" || node.op_type == "Squeeze" ||
             node.op_type == "Unsqueeze" || node.op_type == "Flatten") {
    view = source.weight->reshaped(result.type.shape);
  } else if (node.op_type == "Cast") {
    // Widening is exact, so the storage stays as it is and the kernels widen.
    const ElementType from = source.weight->type.element;
    const bool widens = (from == ElementType::f16 || from == ElementType::bf16) &&
                        result.type.element == ElementType::f32;
    if (widens || from == result.type.element) {
      view = source.weight;
      view->type.element = result.type.element;
    }
  }
  if (!view) return false;
  result.kind = ValueKind::weight;
  result.type = view->type;
  result.weight = std::move(view);
  return true;
}

bool Instance::fold(const ProgramNode& node, std::uint64_t scratch_bytes) {
  if (is_random(*node.definition)) return false;
  // Matrices of bytes are packed as they are; what follows takes their scale.
  if (node.definition->op_type == "DequantizeLinear" && node.definition->domain.empty() &&
      program_.values[node.inputs[0]].type.shape.rank() >= 2) {
    return false;
  }
  std::uint64_t output_bytes = 0;
  for (ValueId id : node.outputs) {
    if (id == no_value) continue;
    const TensorType& type = program_.values[id].type;
    output_bytes += checked_bytes(type.shape, element_size(type.element), "constant");
  }
  if (output_bytes > fold_limit_bytes || scratch_bytes > fold_limit_bytes) return false;
  std::vector<std::optional<ConstTensorView>> inputs;
  const bool shape_only = reads_shape_only(*node.definition);
  for (ValueId id : node.inputs) {
    if (id == no_value) {
      inputs.emplace_back(std::nullopt);
      continue;
    }
    const ProgramValue& value = program_.values[id];
    if (shape_only) {
      inputs.emplace_back(ConstTensorView{value.type.element, value.type.shape, nullptr});
      continue;
    }
    // Earlier stages' results are known too, but only small ones are worth folding on.
    if (value.kind == ValueKind::materialised &&
        checked_bytes(value.type.shape, element_size(value.type.element), "constant") >
            fold_limit_bytes) {
      return false;
    }
    auto known = known_value(program_, id);
    if (!known) return false;
    inputs.emplace_back(*known);
  }
  std::vector<std::shared_ptr<std::vector<std::byte>>> memory;
  std::vector<std::optional<TensorView>> outputs;
  for (ValueId id : node.outputs) {
    memory.push_back(nullptr);
    outputs.emplace_back(std::nullopt);
    if (id == no_value) continue;
    const TensorType& type = program_.values[id].type;
    memory.back() = std::make_shared<std::vector<std::byte>>(
        static_cast<std::size_t>(type.shape.elements()) * element_size(type.element));
    outputs.back() = TensorView{type.element, type.shape, memory.back()->data()};
  }
  // Over-aligned by hand: operators may count on 64 bytes.
  std::vector<std::byte> scratch(scratch_bytes + 64);
  void* start = scratch.data();
  std::size_t space = scratch.size();
  std::align(64, scratch_bytes, start, space);
  kernels::ThreadPool alone(1);
  FoldContext context(*node.definition, std::move(inputs), std::move(outputs),
                      {static_cast<std::byte*>(start), scratch_bytes}, alone);
  node.op->run(context);
  for (std::size_t index = 0; index < node.outputs.size(); ++index) {
    if (node.outputs[index] == no_value) continue;
    ProgramValue& value = program_.values[node.outputs[index]];
    value.kind = ValueKind::constant;
    value.constant = std::move(memory[index]);
  }
  return true;
}

std::vector<ValueId> Instance::outputs() const {
  std::vector<ValueId> result;
  result.reserve(graph_->outputs.size());
  for (ValueId id : graph_->outputs) result.push_back(resolve(main_[id]));
  return result;
}

std::vector<ValueId> Instance::pending_reads() const {
  std::vector<ValueId> result;
  for (const Pending& pending : pending_) {
    for (ValueId id : pending.inputs) {
      if (id != no_value) result.push_back(resolve(id));
    }
    // Subgraphs nest: a capture of an inner body is a capture of every body around it.
    for (const auto& [key, attribute] : pending.node->attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute)) {
        for (const Capture& capture : (*body)->captures) {
          result.push_back(resolve((*pending.scope)[capture.outer]));
        }
      }
    }
  }
  return result;
}

std::string Instance::waiting_for() const {
  return waiting_for_;
}

void Instance::remove_dead_nodes() {
  std::vector<bool> needed(program_.values.size(), false);
  for (ValueId id : program_.live_out) needed[id] = true;
  std::vector<ProgramNode> kept;
  for (auto node = program_.nodes.rbegin(); node != program_.nodes.rend(); ++node) {
    const bool live = std::ranges::any_of(node->outputs,
                                          [&](ValueId id) { return id != no_value && needed[id]; });
    if (!live) continue;
    for (ValueId id : node->inputs) {
      if (id != no_value) needed[id] = true;
    }
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  program_.nodes = std::move(kept);
}

}  // namespace plimsoll::tensor
