#include "tensor/plan/image_lowering.h"

#include <algorithm>
#include <optional>

#include "tensor/graph/specialize.h"
#include "tensor/plan/image_node.h"

namespace plimsoll::tensor {
namespace {

bool lower_concat(Rewriter& rewriter, const ProgramNode& node) {
  std::int64_t axis = node.definition->integer("axis", 1);
  if (axis < 0) axis += 4;
  constexpr std::int64_t moved[] = {0, 3, 1, 2};
  auto definition = std::make_shared<Node>(*node.definition);
  definition->attributes["axis"] = moved[axis];
  std::vector<ValueId> inputs;
  for (ValueId id : node.inputs) {
    if (rewriter.value(id).kind == ValueKind::weight) return false;
  }
  for (ValueId id : node.inputs) inputs.push_back(rewriter.channels_last(id));
  const ValueId twin = rewriter.add_twin(node.outputs[0]);
  rewriter.emit({definition, node.op, nullptr, std::move(inputs), {twin}});
  return true;
}

bool emit_moved(Rewriter& rewriter, const ProgramNode& node, std::vector<ValueId> inputs) {
  inputs[0] = rewriter.channels_last(inputs[0]);
  const ValueId twin = rewriter.add_twin(node.outputs[0]);
  rewriter.emit({node.definition, node.op, nullptr, std::move(inputs), {twin}});
  return true;
}

bool lower_pad(Rewriter& rewriter, const ProgramNode& node) {
  if (node.definition->opset < 11 || node.inputs.size() < 2 ||
      (node.inputs.size() > 3 && node.inputs[3] != no_value)) {
    return false;
  }
  const auto known = known_value(rewriter.program(), node.inputs[1]);
  if (!known || known->type != ElementType::i64 || known->elements() != 8) return false;
  const auto* p = known->as<std::int64_t>();
  std::vector<ValueId> inputs = node.inputs;
  inputs[1] = rewriter.add_integers({p[0], p[2], p[3], p[1], p[4], p[6], p[7], p[5]});
  return emit_moved(rewriter, node, std::move(inputs));
}

bool lower_slice(Rewriter& rewriter, const ProgramNode& node) {
  if (node.definition->opset < 10 || node.inputs.size() < 4 || node.inputs[3] == no_value) {
    return false;
  }
  const auto known = known_value(rewriter.program(), node.inputs[3]);
  if (!known || known->type != ElementType::i64) return false;
  constexpr std::int64_t moved[] = {0, 3, 1, 2};
  std::vector<std::int64_t> axes;
  for (std::int64_t axis : known->span<std::int64_t>()) {
    axes.push_back(moved[axis < 0 ? axis + 4 : axis]);
  }
  std::vector<ValueId> inputs = node.inputs;
  inputs[3] = rewriter.add_integers(std::move(axes));
  return emit_moved(rewriter, node, std::move(inputs));
}

bool is_elementwise(const std::string& op) {
  static constexpr std::string_view names[] = {
      "Add",         "Sub",       "Mul",     "Div",  "Relu", "Clip",      "Sigmoid", "Tanh", "Sqrt",
      "HardSigmoid", "HardSwish", "Abs",     "Neg",  "Exp",  "LeakyRelu", "Pow",     "Max",  "Min",
      "Equal",       "Cast",      "Greater", "Less", "Erf",  "Softplus",  "Gelu",    "Swish"};
  return std::ranges::find(names, op) != std::end(names);
}

/// An operand of an elementwise operator for channels-last results; nothing where it has none.
std::optional<ValueId> elementwise_operand(Rewriter& rewriter, ValueId id) {
  const Shape shape = rewriter.value(id).type.shape;
  if (shape.elements() == 1 && shape.rank() <= 4) {
    return rewriter.value(id).kind == ValueKind::activation ? std::optional(rewriter.original(id))
                                                            : id;
  }
  if (shape.rank() == 4 && rewriter.value(id).kind != ValueKind::weight) {
    if (rewriter.value(id).kind != ValueKind::constant) return rewriter.channels_last(id);
  }
  const auto known = known_value(rewriter.program(), id);
  if (!known || shape.rank() > 4) return std::nullopt;
  // A constant: its dimensions are filled up in front, then moved.
  std::vector<std::int64_t> dims(4 - shape.rank(), 1);
  dims.insert(dims.end(), shape.dimensions().begin(), shape.dimensions().end());
  const std::size_t width = element_size(known->type);
  std::vector<std::byte> bytes(known->bytes());
  std::byte* to = bytes.data();
  for (std::int64_t n = 0; n < dims[0]; ++n) {
    for (std::int64_t h = 0; h < dims[2]; ++h) {
      for (std::int64_t w = 0; w < dims[3]; ++w) {
        for (std::int64_t c = 0; c < dims[1]; ++c) {
          const std::int64_t from = ((n * dims[1] + c) * dims[2] + h) * dims[3] + w;
          std::copy_n(known->data + static_cast<std::size_t>(from) * width, width, to);
          to += width;
        }
      }
    }
  }
  return rewriter.add_constant(rewriter.value(id).name,
                               {known->type, {dims[0], dims[2], dims[3], dims[1]}},
                               std::move(bytes));
}

bool lower_elementwise(Rewriter& rewriter, const ProgramNode& node) {
  std::vector<ValueId> inputs;
  for (ValueId id : node.inputs) {
    if (id == no_value) {
      inputs.push_back(no_value);
      continue;
    }
    const auto operand = elementwise_operand(rewriter, id);
    if (!operand) return false;
    inputs.push_back(*operand);
  }
  const ValueId twin = rewriter.add_twin(node.outputs[0]);
  rewriter.emit({node.definition, node.op, nullptr, std::move(inputs), {twin}});
  return true;
}

}  // namespace

bool lower_image_operator(Rewriter& rewriter, const ProgramNode& node) {
  if (!node.definition->domain.empty() || node.outputs.size() != 1 || node.inputs.empty() ||
      node.inputs[0] == no_value) {
    return false;
  }
  if (rewriter.shape(node.outputs[0]).rank() != 4) return false;
  // Only where an operand is channels-last already; otherwise there is nothing to gain.
  bool any = false;
  for (ValueId id : node.inputs) any = any || (id != no_value && rewriter.has_twin(id));
  if (!any) return false;
  const std::string& op = node.definition->op_type;
  if (auto kernel = make_image_node(rewriter.program(), node, rewriter.target())) {
    const ValueId input = rewriter.channels_last(node.inputs[0]);
    const ValueId twin = rewriter.add_twin(node.outputs[0]);
    rewriter.emit({node.definition, nullptr, std::move(kernel), {input}, {twin}});
    return true;
  }
  if (op == "Concat") return lower_concat(rewriter, node);
  if (op == "Pad") return lower_pad(rewriter, node);
  if (op == "Slice") return lower_slice(rewriter, node);
  if (is_elementwise(op)) return lower_elementwise(rewriter, node);
  return false;
}

}  // namespace plimsoll::tensor
