#include "tensor/plan/half_widening.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "tensor/graph/half.h"
#include "tensor/graph/specialize.h"
#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {
namespace {

bool is_half(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16;
}

bool is_among(const ProgramNode& node, std::span<const std::string_view> names) {
  return node.kernel == nullptr && node.definition != nullptr && node.definition->domain.empty() &&
         std::ranges::find(names, node.definition->op_type) != names.end();
}

constexpr std::string_view products[] = {"Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU"};
/// Whose results have the type of their operands, whatever that is.
constexpr std::string_view computing[] = {"Abs",        "Add",         "AveragePool",
                                          "Clip",       "Div",         "BatchNormalization",
                                          "Elu",        "Erf",         "Exp",
                                          "Gelu",       "Equal",       "GlobalAveragePool",
                                          "Greater",    "HardSigmoid", "GlobalMaxPool",
                                          "HardSwish",  "LeakyRelu",   "InstanceNormalization",
                                          "Less",       "Log",         "LayerNormalization",
                                          "LogSoftmax", "Max",         "GroupNormalization",
                                          "MaxPool",    "Mean",        "GreaterOrEqual",
                                          "Min",        "Mish",        "LessOrEqual",
                                          "Mul",        "Neg",         "Pow",
                                          "PRelu",      "ReduceMax",   "ReduceMean",
                                          "ReduceMin",  "ReduceSum",   "Reciprocal",
                                          "ReduceL2",   "Relu",        "ReduceSumSquare",
                                          "Resize",     "Sigmoid",     "Softmax",
                                          "Softplus",   "Sqrt",        "Sub",
                                          "Sum",        "Swish",       "Tanh",
                                          "Upsample"};
/// Who only move elements: worth widening where an operand is wide already.
constexpr std::string_view moving[] = {"Concat",    "DepthToSpace", "Expand",       "Flatten",
                                       "Gather",    "Identity",     "Pad",          "Reshape",
                                       "Slice",     "Split",        "SpaceToDepth", "Squeeze",
                                       "Transpose", "Unsqueeze",    "Where"};

class Widening {
 public:
  explicit Widening(Program& program) : program_(program) {}

  void run() {
    const bool worthwhile = std::ranges::any_of(program_.nodes, [&](const ProgramNode& node) {
      return is_among(node, products) && half(node.inputs[0]);
    });
    if (!worthwhile) return;
    std::vector<ProgramNode> nodes = std::move(program_.nodes);
    program_.nodes.clear();
    for (ProgramNode& node : nodes) {
      if (is_widened(node)) {
        widen(std::move(node));
      } else if (!widen_cast(node)) {
        for (ValueId id : node.inputs) narrow(id);
        program_.nodes.push_back(std::move(node));
      }
    }
    for (ValueId id : program_.live_out) narrow(id);
  }

 private:
  bool half(ValueId id) const {
    return id != no_value && is_half(program_.values[id].type.element);
  }

  bool is_widened(const ProgramNode& node) const {
    if (std::ranges::none_of(node.inputs, [&](ValueId id) { return half(id); })) return false;
    if (is_among(node, products) || is_among(node, computing)) return true;
    return is_among(node, moving) && std::ranges::any_of(node.inputs, [&](ValueId id) {
             return id != no_value && wide_.contains(id);
           });
  }

  void widen(ProgramNode node) {
    for (ValueId& id : node.inputs) {
      if (half(id)) id = wide(id);
    }
    for (ValueId& id : node.outputs) {
      if (!half(id)) continue;
      const ValueId fresh = add_wide(id);
      only_wide_.insert(id);
      id = fresh;
    }
    program_.nodes.push_back(std::move(node));
  }

  /// A Cast to f32 of a value that is f32 already.
  bool widen_cast(const ProgramNode& node) {
    if (!is_op(node, "Cast") || !half(node.inputs[0]) || !wide_.contains(node.inputs[0]) ||
        program_.values[node.outputs[0]].type.element != ElementType::f32) {
      return false;
    }
    emit("Identity", {}, wide_[node.inputs[0]], node.outputs[0]);
    return true;
  }

  ValueId add_wide(ValueId id) {
    ProgramValue fresh;
    fresh.name = program_.values[id].name;
    fresh.type = {ElementType::f32, program_.values[id].type.shape};
    fresh.kind = ValueKind::activation;
    program_.values.push_back(std::move(fresh));
    const auto added = static_cast<ValueId>(program_.values.size() - 1);
    wide_[id] = added;
    return added;
  }

  /// The value in f32.
  ValueId wide(ValueId id) {
    if (const auto found = wide_.find(id); found != wide_.end()) return found->second;
    const auto known = known_value(program_, id);
    const ValueId added = add_wide(id);
    const ProgramValue& source = program_.values[id];
    ProgramValue& value = program_.values[added];
    if (source.kind == ValueKind::weight && source.weight->stored->type == source.type.element) {
      value.kind = ValueKind::weight;
      value.weight = source.weight;
      value.weight->type.element = ElementType::f32;
      if (known) value.constant = widened(*known);
    } else if (known && source.kind != ValueKind::materialised) {
      value.kind = ValueKind::constant;
      value.constant = widened(*known);
    } else {
      emit("Cast", {{"to", std::int64_t{1}}}, id, added);  // TensorProto.FLOAT
    }
    return added;
  }

  static ConstantBytes widened(const ConstTensorView& view) {
    const auto count = static_cast<std::size_t>(view.elements());
    auto bytes = std::make_shared<std::vector<std::byte>>(count * sizeof(float));
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, view.data + i * sizeof bits, sizeof bits);
      const float x =
          view.type == ElementType::f16 ? to_float(Float16{bits}) : to_float(BFloat16{bits});
      std::memcpy(bytes->data() + i * sizeof x, &x, sizeof x);
    }
    return bytes;
  }

  /// Makes the value in its own type where only its wide form is computed.
  void narrow(ValueId id) {
    if (id == no_value || only_wide_.erase(id) == 0) return;
    emit("Cast", {{"to", static_cast<std::int64_t>(program_.values[id].type.element)}}, wide_[id],
         id);
  }

  void emit(std::string_view op, decltype(Node::attributes) attributes, ValueId from, ValueId to) {
    constexpr int opset = 13;
    auto definition = std::make_shared<Node>();
    definition->op_type = op;
    definition->name = program_.values[from].name;
    definition->opset = opset;
    definition->inputs = {0};
    definition->outputs = {0};
    definition->attributes = std::move(attributes);
    program_.nodes.push_back(
        {definition, OperatorTable::builtin().find("", op, opset), nullptr, {from}, {to}});
  }

  Program& program_;
  std::unordered_map<ValueId, ValueId> wide_;
  std::unordered_set<ValueId> only_wide_;
};

}  // namespace

void widen_halves(Program& program) {
  Widening(program).run();
}

}  // namespace plimsoll::tensor
