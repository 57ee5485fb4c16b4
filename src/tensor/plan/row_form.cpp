#include "tensor/plan/row_form.h"

#include <algorithm>
#include <string_view>

#include "tensor/graph/specialize.h"

namespace plimsoll::tensor {
namespace {

/// One element of the output depends on the elements at its place alone (with broadcasting).
bool is_elementwise(std::string_view op) {
  static constexpr std::string_view names[] = {
      "Abs",   "Add",     "Cast",     "Ceil", "Clip",    "Div",         "Elu",       "Equal",
      "Erf",   "Exp",     "Floor",    "Gelu", "Greater", "HardSigmoid", "HardSwish", "LeakyRelu",
      "Less",  "Log",     "Max",      "Min",  "Mul",     "Neg",         "Pow",       "Relu",
      "Round", "Sigmoid", "Softplus", "Sqrt", "Sub",     "Tanh",        "Where"};
  return std::ranges::find(names, op) != std::end(names);
}

/// A Slice that leaves batch and rows alone.
bool slices_within_rows(const Program& program, const ProgramNode& node) {
  if (node.definition->opset < 10 || node.inputs.size() < 4 || node.inputs[3] == no_value) {
    return false;
  }
  const ProgramValue& axes = program.values[node.inputs[3]];
  if (axes.kind != ValueKind::constant || axes.type.element != ElementType::i64) return false;
  const auto* list = reinterpret_cast<const std::int64_t*>(axes.constant->data());
  return std::all_of(list, list + axes.type.shape.elements(), [](std::int64_t axis) {
    return axis == 2 || axis == 3 || axis == -1 || axis == -2;
  });
}

/// The operand has rows of its own; others are the same for all rows.
bool has_rows(const Program& program, const ProgramNode& node, std::size_t input) {
  const ValueId id = node.inputs[input];
  if (id == no_value) return false;
  const Shape& shape = program.values[id].type.shape;
  const Shape& output = program.values[node.outputs[0]].type.shape;
  return shape.rank() == 4 && shape[1] == output[1] && output[1] > 1;
}

}  // namespace

bool row_wise(const Program& program, const ProgramNode& node) {
  if (node.outputs.size() != 1 || node.outputs[0] == no_value) return false;
  const TensorType& output = program.values[node.outputs[0]].type;
  if (output.shape.rank() != 4 || output.shape.elements() == 0) return false;
  if (node.kernel != nullptr) return node.kernel->row_wise();
  if (!node.definition->domain.empty() || output.shape[1] == 1) return false;
  const std::string& op = node.definition->op_type;
  const auto smaller_rank = [&](ValueId id) {
    return id == no_value || program.values[id].type.shape.rank() <= 4;
  };
  if (is_elementwise(op)) return std::ranges::all_of(node.inputs, smaller_rank);
  if (op == "Concat") {
    const std::int64_t axis = node.definition->integer("axis", 0);
    return axis == 2 || axis == 3 || axis == -1 || axis == -2;
  }
  return op == "Slice" && slices_within_rows(program, node);
}

std::optional<RowRange> input_rows(const Program& program, const ProgramNode& node,
                                   std::size_t input, RowRange output) {
  if (node.kernel == nullptr) {
    return has_rows(program, node, input) ? std::optional(output) : std::nullopt;
  }
  auto rows = node.kernel->input_rows(input, output);
  if (!rows) return std::nullopt;
  const std::int64_t height = program.values[node.inputs[input]].type.shape[1];
  rows->begin = std::clamp<std::int64_t>(rows->begin, 0, height);
  rows->end = std::clamp<std::int64_t>(rows->end, rows->begin, height);
  return rows;
}

}  // namespace plimsoll::tensor
