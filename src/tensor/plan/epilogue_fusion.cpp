#include "tensor/plan/epilogue_fusion.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "tensor/plan/activation_match.h"
#include "tensor/plan/activation_product_lowering.h"
#include "tensor/plan/activation_product_node.h"
#include "tensor/plan/depthwise_node.h"
#include "tensor/plan/product_node.h"

namespace plimsoll::tensor {
namespace {

const OwnedEpilogue* epilogue_of(const ProgramNode& node) {
  if (const auto* product = dynamic_cast<const ProductNode*>(node.kernel.get())) {
    return &product->epilogue;
  }
  if (const auto* depthwise = dynamic_cast<const DepthwiseNode*>(node.kernel.get())) {
    return &depthwise->epilogue;
  }
  if (const auto* product = dynamic_cast<const ActivationProductNode*>(node.kernel.get())) {
    return &product->epilogue;
  }
  return nullptr;
}

/// The emitted kernel that made `id` (or its twin) and may still grow: its result has one reader.
ProgramNode* growable(Rewriter& rewriter, ValueId id) {
  if (id == no_value || rewriter.readers(id) != 1) return nullptr;
  if (rewriter.has_twin(id) && rewriter.has_original(id)) return nullptr;
  ProgramNode* node = rewriter.maker(rewriter.only_twin(id).value_or(id));
  if (node == nullptr || node->kernel == nullptr || epilogue_of(*node) == nullptr) return nullptr;
  return node;
}

bool is_image(const KernelNode& kernel) {
  if (const auto* product = dynamic_cast<const ProductNode*>(&kernel)) return product->image();
  return dynamic_cast<const DepthwiseNode*>(&kernel) != nullptr;
}

/// The kernel with another epilogue, computed here instead of where it stood.
void regrow(Rewriter& rewriter, ProgramNode& grown, const ProgramNode& reader,
            OwnedEpilogue epilogue, std::optional<ValueId> residual) {
  ProgramNode fresh = std::move(grown);
  Rewriter::erase(grown);
  std::shared_ptr<KernelNode> kernel;
  const auto extend = [&](auto copy) {
    copy->epilogue = std::move(epilogue);
    copy->name += "+" + reader.definition->op_type;
    kernel = std::move(copy);
  };
  if (const auto* product = dynamic_cast<const ProductNode*>(fresh.kernel.get())) {
    extend(std::make_shared<ProductNode>(*product));
  } else if (const auto* depthwise = dynamic_cast<const DepthwiseNode*>(fresh.kernel.get())) {
    extend(std::make_shared<DepthwiseNode>(*depthwise));
  } else {
    auto copy = std::make_shared<ActivationProductNode>(
        dynamic_cast<const ActivationProductNode&>(*fresh.kernel));
    if (residual) copy->residual = *residual_matrices(rewriter, *copy, *residual);
    extend(std::move(copy));
  }
  if (residual) fresh.inputs.push_back(*residual);
  const ValueId out = reader.outputs[0];
  const bool image = rewriter.value(fresh.outputs[0]).type.shape.rank() == 4 && is_image(*kernel);
  if (image) {
    fresh.outputs = {rewriter.add_twin(out)};
  } else {
    fresh.outputs = {out};
  }
  fresh.kernel = std::move(kernel);
  rewriter.emit(std::move(fresh));
}

std::size_t columns_of(const ProgramNode& node) {
  if (const auto* product = dynamic_cast<const ProductNode*>(node.kernel.get())) {
    return static_cast<std::size_t>(product->columns);
  }
  if (const auto* product = dynamic_cast<const ActivationProductNode*>(node.kernel.get())) {
    return static_cast<std::size_t>(product->columns);
  }
  return static_cast<std::size_t>(dynamic_cast<const DepthwiseNode&>(*node.kernel).channels);
}

/// One value for each column, or one for all; nothing where the shape is another. `from_end`: the
/// columns' axis of the kernel's result, counted from the last, which is 0.
std::optional<std::vector<float>> per_column(Rewriter& rewriter, ValueId id, std::size_t from_end,
                                             std::size_t columns) {
  if (id == no_value) return std::nullopt;
  const Shape shape = rewriter.value(id).type.shape;
  auto list = rewriter.floats(id);
  if (!list) return std::nullopt;
  if (list->size() == 1) return shape.rank() <= 4 ? list : std::nullopt;
  if (list->size() != columns || shape.rank() <= from_end ||
      shape[shape.rank() - 1 - from_end] != static_cast<std::int64_t>(columns)) {
    return std::nullopt;
  }
  return list;
}

/// Whether the value can be added to the kernel's result, which is of type `result`.
bool fits_as_residual(Rewriter& rewriter, const KernelNode& kernel, const TensorType& result,
                      ValueId id) {
  if (const auto* product = dynamic_cast<const ActivationProductNode*>(&kernel)) {
    return residual_matrices(rewriter, *product, id).has_value();
  }
  return rewriter.value(id).type == result && rewriter.value(id).kind != ValueKind::weight;
}

/// BatchNormalization as a factor and a term for each channel; nothing where they are not known.
std::optional<std::pair<std::vector<float>, std::vector<float>>> batch_normalization(
    Rewriter& rewriter, const ProgramNode& node) {
  std::vector<float> lists[4];
  for (std::size_t index = 0; index < 4; ++index) {
    auto known = rewriter.floats(node.inputs[index + 1]);
    if (!known) return std::nullopt;
    lists[index] = std::move(*known);
  }
  const float epsilon = node.definition->real("epsilon", 1e-5F);
  std::vector<float> factor(lists[0].size());
  std::vector<float> term(lists[0].size());
  for (std::size_t c = 0; c < factor.size(); ++c) {
    factor[c] = lists[0][c] / std::sqrt(lists[3][c] + epsilon);
    term[c] = lists[1][c] - lists[2][c] * factor[c];
  }
  return std::pair(std::move(factor), std::move(term));
}

/// Lets `grown`, whose result is operand `side` of `node`, compute `node` too.
bool grow_by(Rewriter& rewriter, ProgramNode& grown, const ProgramNode& node, std::size_t side) {
  OwnedEpilogue epilogue = *epilogue_of(grown);
  const bool image = is_image(*grown.kernel);
  const std::size_t columns = columns_of(grown);
  // Channels are axis 1 of an image, the last axis of a product.
  const std::size_t from_end = image ? rewriter.shape(node.outputs[0]).rank() - 2 : 0;
  const bool open = epilogue.activation == kernels::Activation::none && !epilogue.has_residual;
  const ValueId other = node.inputs.size() > 1 ? node.inputs[1 - side] : no_value;

  if (side == 0 && epilogue.activation == kernels::Activation::none &&
      !epilogue.residual_after_activation) {
    if (auto activation = match_activation(rewriter.program(), node)) {
      epilogue.activation = activation->activation;
      epilogue.low = activation->low;
      epilogue.high = activation->high;
      regrow(rewriter, grown, node, std::move(epilogue), std::nullopt);
      return true;
    }
  }
  if (open && side == 0 && is_op(node, "BatchNormalization") && image &&
      node.definition->integer("training_mode", 0) == 0) {
    if (auto affine = batch_normalization(rewriter, node)) {
      epilogue.then_affine(affine->first, affine->second, columns);
      regrow(rewriter, grown, node, std::move(epilogue), std::nullopt);
      return true;
    }
  }
  const bool add = is_op(node, "Add");
  const bool subtract = is_op(node, "Sub") && side == 0;
  const bool multiply = is_op(node, "Mul");
  const bool divide = is_op(node, "Div") && side == 0;
  if (open && (add || subtract || multiply || divide)) {
    if (auto list = per_column(rewriter, other, from_end, columns)) {
      for (float& x : *list) {
        if (subtract) x = -x;
        if (divide) x = 1.0F / x;
      }
      if (add || subtract) {
        epilogue.then_affine({}, *list, columns);
      } else {
        epilogue.then_affine(*list, {}, columns);
      }
      regrow(rewriter, grown, node, std::move(epilogue), std::nullopt);
      return true;
    }
  }
  // A number after HardSwish, which is its activation's own factor and term.
  if (epilogue.activation == kernels::Activation::hard_swish && !epilogue.has_residual &&
      (add || subtract || multiply || divide)) {
    const auto list = per_column(rewriter, other, from_end, columns);
    if (list && list->size() == 1) {
      const float number = list->front();
      if (add) epilogue.high += number;
      if (subtract) epilogue.high -= number;
      const float factor = multiply ? number : divide ? 1.0F / number : 1.0F;
      epilogue.low *= factor;
      epilogue.high *= factor;
      regrow(rewriter, grown, node, std::move(epilogue), std::nullopt);
      return true;
    }
  }
  // A residual: the other operand has the same shape and is computed by now.
  if (add && !epilogue.has_residual && other != no_value && other != node.inputs[side] &&
      fits_as_residual(rewriter, *grown.kernel, rewriter.value(node.inputs[side]).type, other)) {
    epilogue.has_residual = true;
    epilogue.residual_after_activation = epilogue.activation != kernels::Activation::none;
    const ValueId residual = image ? rewriter.channels_last(other) : rewriter.original(other);
    // Making the residual may have moved what was emitted.
    ProgramNode* again = growable(rewriter, node.inputs[side]);
    if (again == nullptr) return false;
    regrow(rewriter, *again, node, std::move(epilogue), residual);
    return true;
  }
  return false;
}

}  // namespace

bool fuse_into_epilogue(Rewriter& rewriter, const ProgramNode& node) {
  if (node.outputs.empty() || node.outputs[0] == no_value || node.inputs.empty()) return false;
  for (std::size_t side = 0; side < std::min<std::size_t>(node.inputs.size(), 2); ++side) {
    ProgramNode* grown = growable(rewriter, node.inputs[side]);
    if (grown == nullptr) continue;
    if (rewriter.value(node.outputs[0]).type != rewriter.value(node.inputs[side]).type) continue;
    if (grow_by(rewriter, *grown, node, side)) return true;
  }
  return false;
}

}  // namespace plimsoll::tensor
