#include "tensor/plan/image_lowering.h"

#include <algorithm>
#include <optional>

#include "tensor/graph/specialize.h"
#include "tensor/plan/image_node.h"

namespace plimsoll::tensor {
namespace {

/// An axis of a value of that rank, which may count from the end, on the twin.
std::int64_t moved_axis(std::int64_t axis, std::size_t rank) {
  if (axis < 0) axis += static_cast<std::int64_t>(rank);
  return static_cast<std::int64_t>(channels_last_axis(static_cast<std::size_t>(axis), rank));
}

bool lower_concat(Rewriter& rewriter, const ProgramNode& node) {
  auto definition = std::make_shared<Node>(*node.definition);
  definition->attributes["axis"] =
      moved_axis(node.definition->integer("axis", 1), rewriter.shape(node.outputs[0]).rank());
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
  const std::size_t rank = rewriter.shape(node.inputs[0]).rank();
  if (!known || known->type != ElementType::i64 ||
      known->elements() != static_cast<std::int64_t>(2 * rank)) {
    return false;
  }
  const auto before = known->span<std::int64_t>();
  std::vector<std::int64_t> pads(8, 0);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::size_t to = channels_last_axis(axis, rank);
    pads[to] = before[axis];
    pads[4 + to] = before[rank + axis];
  }
  std::vector<ValueId> inputs = node.inputs;
  inputs[1] = rewriter.add_integers(pads);
  return emit_moved(rewriter, node, std::move(inputs));
}

bool lower_slice(Rewriter& rewriter, const ProgramNode& node) {
  if (node.definition->opset < 10 || node.inputs.size() < 4 || node.inputs[3] == no_value) {
    return false;
  }
  const auto known = known_value(rewriter.program(), node.inputs[3]);
  if (!known || known->type != ElementType::i64) return false;
  std::vector<std::int64_t> axes;
  for (std::int64_t axis : known->span<std::int64_t>()) {
    axes.push_back(moved_axis(axis, rewriter.shape(node.inputs[0]).rank()));
  }
  std::vector<ValueId> inputs = node.inputs;
  inputs[3] = rewriter.add_integers(axes);
  return emit_moved(rewriter, node, std::move(inputs));
}

bool is_elementwise(const std::string& op) {
  static constexpr std::string_view names[] = {
      "Add",         "Sub",       "Mul",     "Div",  "Relu", "Clip",      "Sigmoid", "Tanh", "Sqrt",
      "HardSigmoid", "HardSwish", "Abs",     "Neg",  "Exp",  "LeakyRelu", "Pow",     "Max",  "Min",
      "Equal",       "Cast",      "Greater", "Less", "Erf",  "Softplus",  "Gelu",    "Swish"};
  return std::ranges::find(names, op) != std::end(names);
}

bool lower_elementwise(Rewriter& rewriter, const ProgramNode& node) {
  std::vector<ValueId> inputs;
  for (ValueId id : node.inputs) {
    if (id == no_value) {
      inputs.push_back(no_value);
      continue;
    }
    const auto operand =
        channels_last_operand(rewriter, id, rewriter.shape(node.outputs[0]).rank());
    if (!operand) return false;
    inputs.push_back(*operand);
  }
  const ValueId twin = rewriter.add_twin(node.outputs[0]);
  rewriter.emit({node.definition, node.op, nullptr, std::move(inputs), {twin}});
  return true;
}

}  // namespace

std::optional<ValueId> channels_last_operand(Rewriter& rewriter, ValueId id, std::size_t rank) {
  const Shape shape = rewriter.value(id).type.shape;
  if (shape.elements() == 1 && shape.rank() <= 4) {
    return rewriter.value(id).kind == ValueKind::activation ? std::optional(rewriter.original(id))
                                                            : id;
  }
  if (shape.rank() == rank && rewriter.value(id).kind != ValueKind::weight) {
    if (rewriter.value(id).kind != ValueKind::constant) return rewriter.channels_last(id);
  }
  const auto known = known_value(rewriter.program(), id);
  if (!known || shape.rank() > rank) return std::nullopt;
  // A constant: its dimensions are filled up in front, then moved. A signal is an image of one row.
  std::vector<std::int64_t> dims(rank - shape.rank(), 1);
  dims.insert(dims.end(), shape.dimensions().begin(), shape.dimensions().end());
  if (rank == 3) dims.insert(dims.begin() + 2, 1);
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

bool lower_image_operator(Rewriter& rewriter, const ProgramNode& node) {
  if (!node.definition->domain.empty() || node.outputs.size() != 1 || node.inputs.empty() ||
      node.inputs[0] == no_value) {
    return false;
  }
  if (!is_image_rank(rewriter.shape(node.outputs[0]).rank()) ||
      rewriter.shape(node.inputs[0]).rank() > rewriter.shape(node.outputs[0]).rank()) {
    return false;
  }
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
