#include "tensor/plan/integer_product_lowering.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "tensor/graph/specialize.h"
#include "tensor/operators/spatial.h"
#include "tensor/plan/integer_product_node.h"

namespace plimsoll::tensor {
namespace {

/// Where an operator has its operands; SIZE_MAX: it has no such operand.
struct Operands {
  std::size_t left = SIZE_MAX;
  std::size_t weight = SIZE_MAX;
  std::size_t left_zero = SIZE_MAX;
  std::size_t weight_zero = SIZE_MAX;
  std::size_t left_scale = SIZE_MAX;
  std::size_t weight_scale = SIZE_MAX;
  std::size_t result_scale = SIZE_MAX;
  std::size_t result_zero = SIZE_MAX;
  std::size_t bias = SIZE_MAX;

  [[nodiscard]] bool requantises() const { return result_scale != SIZE_MAX; }
};
constexpr Operands integer_operands{0, 1, 2, 3};
constexpr Operands linear_operands{0, 3, 2, 5, 1, 4, 6, 7, 8};

ValueId operand(const ProgramNode& node, std::size_t index) {
  return index < node.inputs.size() ? node.inputs[index] : no_value;
}

/// The integers of a value that is known now.
std::optional<std::vector<std::int32_t>> integers(Rewriter& rewriter, ValueId id) {
  const auto known = known_value(rewriter.program(), id);
  if (!known) return std::nullopt;
  const auto widen = [](const auto& list) {
    return std::vector<std::int32_t>(list.begin(), list.end());
  };
  switch (known->type) {
    case ElementType::i8:
      return widen(known->span<std::int8_t>());
    case ElementType::u8:
      return widen(known->span<std::uint8_t>());
    case ElementType::i32:
      return widen(known->span<std::int32_t>());
    default:
      return std::nullopt;
  }
}

/// One number for each column; nothing where there are others.
template <typename T>
std::optional<std::vector<T>> per_column(std::vector<T> list, std::int64_t columns) {
  if (static_cast<std::int64_t>(list.size()) == columns) return list;
  if (list.size() != 1) return std::nullopt;
  return std::vector<T>(static_cast<std::size_t>(columns), list.front());
}

bool has_plain_bytes(const ProgramValue& value) {
  if (value.kind != ValueKind::weight) return false;
  const StoredTensor& stored = *value.weight->stored;
  return (stored.type == ElementType::i8 || stored.type == ElementType::u8) &&
         value.type.element == stored.type && stored.storage.element == stored.type &&
         stored.storage.form == StorageType::Form::dense;
}

/// Fills in what the operator says besides the factors; false where the kernel cannot have it.
bool read_quantization(Rewriter& rewriter, const ProgramNode& node, const Operands& operands,
                       IntegerProductNode& kernel) {
  const ValueId left_zero = operand(node, operands.left_zero);
  if (left_zero != no_value && rewriter.shape(left_zero).elements() != 1) return false;
  if (const ValueId id = operand(node, operands.weight_zero); id != no_value) {
    const auto list = integers(rewriter, id);
    const auto zeros = list ? per_column(*list, kernel.columns) : std::nullopt;
    if (!zeros || rewriter.shape(id).rank() > 1) return false;
    // Where they are zero the kernel need not know the sums of the left factor's rows.
    if (std::ranges::any_of(*zeros, [](std::int32_t zero) { return zero != 0; })) {
      kernel.weight_zeros = *zeros;
    }
  }
  if (const ValueId id = operand(node, operands.bias); id != no_value) {
    const auto list = integers(rewriter, id);
    if (!list || static_cast<std::int64_t>(list->size()) != kernel.columns) return false;
    kernel.bias = *list;
  }
  if (!operands.requantises()) return true;
  const auto left = rewriter.floats(operand(node, operands.left_scale));
  const auto weight = rewriter.floats(operand(node, operands.weight_scale));
  const auto result = rewriter.floats(operand(node, operands.result_scale));
  if (!left || left->size() != 1 || !weight || !result || result->size() != 1 ||
      rewriter.shape(operand(node, operands.weight_scale)).rank() > 1) {
    return false;
  }
  const auto scales = per_column(*weight, kernel.columns);
  const auto zero = integers(rewriter, operand(node, operands.result_zero));
  if (!scales || !zero || zero->size() != 1) return false;
  kernel.scale = *scales;
  for (float& scale : kernel.scale) scale = left->front() * scale / result->front();
  kernel.result_zero = zero->front();
  kernel.result = rewriter.value(node.outputs[0]).type.element == ElementType::i8
                      ? kernels::IntegerOutput::i8
                      : kernels::IntegerOutput::u8;
  return true;
}

/// Emits the kernel between operands that have its layout.
void emit(Rewriter& rewriter, const ProgramNode& node, const Operands& operands,
          std::shared_ptr<IntegerProductNode> kernel, const WeightView& view, ValueId left,
          ValueId result) {
  kernel->name = node.definition->op_type;
  const ValueId weight = operand(node, operands.weight);
  std::vector<ValueId> inputs{left, rewriter.add_weight(rewriter.value(weight), view)};
  rewriter.release(weight);
  if (const ValueId zero = operand(node, operands.left_zero); zero != no_value) {
    inputs.push_back(rewriter.original(zero));
  }
  rewriter.emit({node.definition, nullptr, std::move(kernel), std::move(inputs), {result}});
}

std::shared_ptr<IntegerProductNode> make_kernel(Rewriter& rewriter, const ProgramNode& node,
                                                const Operands& operands) {
  auto kernel = std::make_shared<IntegerProductNode>();
  kernel->target = rewriter.target();
  kernel->left_is_signed =
      rewriter.value(operand(node, operands.left)).type.element == ElementType::i8;
  kernel->weight_is_signed =
      rewriter.value(operand(node, operands.weight)).type.element == ElementType::i8;
  return kernel;
}

bool lower_matmul(Rewriter& rewriter, const ProgramNode& node, const Operands& operands) {
  const ValueId left = operand(node, operands.left);
  const ProgramValue& weight = rewriter.value(operand(node, operands.weight));
  if (!has_plain_bytes(weight) || weight.type.shape.rank() != 2 ||
      weight.type.shape.elements() == 0 || rewriter.shape(left).rank() == 0) {
    return false;
  }
  const WeightView view = *weight.weight;
  auto kernel = make_kernel(rewriter, node, operands);
  kernel->depth = view.type.shape[0];
  kernel->columns = view.type.shape[1];
  if (!read_quantization(rewriter, node, operands, *kernel)) return false;
  const ValueId factors = rewriter.original(left);
  emit(rewriter, node, operands, std::move(kernel), view, factors, node.outputs[0]);
  return true;
}

bool lower_convolution(Rewriter& rewriter, const ProgramNode& node, const Operands& operands) {
  const ValueId left = operand(node, operands.left);
  const ProgramValue& weight = rewriter.value(operand(node, operands.weight));
  const Shape input = rewriter.shape(left);
  if (!has_plain_bytes(weight) || !is_image_rank(input.rank()) || input.elements() == 0 ||
      rewriter.shape(node.outputs[0]).elements() == 0 ||
      node.definition->integer("group", 1) != 1) {
    return false;
  }
  const Shape filter = weight.type.shape;
  auto kernel = make_kernel(rewriter, node, operands);
  kernel->convolution = true;
  kernel->depth = filter[1];
  kernel->columns = filter[0];
  kernel->window =
      image_window(spatial_window(*node.definition, input, filter.dimensions().subspan(2)));
  const auto view = weight.weight->reshaped({filter[0], filter[1], kernel->window.taps()});
  if (!view || !read_quantization(rewriter, node, operands, *kernel)) return false;
  const ValueId image = rewriter.channels_last(left);
  const ValueId result = rewriter.add_twin(node.outputs[0]);
  emit(rewriter, node, operands, std::move(kernel), *view, image, result);
  return true;
}

}  // namespace

bool lower_integer_product(Rewriter& rewriter, const ProgramNode& node) {
  if (is_op(node, "MatMulInteger")) return lower_matmul(rewriter, node, integer_operands);
  if (is_op(node, "QLinearMatMul")) return lower_matmul(rewriter, node, linear_operands);
  if (is_op(node, "ConvInteger")) return lower_convolution(rewriter, node, integer_operands);
  if (is_op(node, "QLinearConv")) return lower_convolution(rewriter, node, linear_operands);
  return false;
}

}  // namespace plimsoll::tensor
