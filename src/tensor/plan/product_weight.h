// Weights that products can pack: floats, and bytes that a DequantizeLinear would widen. Why it
// exists: every kind of product takes the same weights. May touch: rewriter.h, product_node.h.
#pragma once

#include <optional>
#include <vector>

#include "tensor/plan/product_node.h"
#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {

/// Element e of the weight is (stored e − zero point)·scale. The lists are empty (0 and 1), or hold
/// one number for all, or one for each position along `axis`.
struct ProductWeight {
  WeightView view;  ///< its `type` has the weight's shape
  std::vector<float> scale;
  std::vector<float> zero_points;
  std::size_t axis = 0;
  ValueId value = no_value;  ///< what the graph calls the weight

  [[nodiscard]] const Shape& shape() const { return view.type.shape; }
  [[nodiscard]] bool quantized() const { return !scale.empty(); }
  /// Whether the lists are along `columns_axis`, or hold one number.
  [[nodiscard]] bool per_column(std::size_t columns_axis) const {
    return (scale.size() <= 1 && zero_points.size() <= 1) || axis == columns_axis;
  }
  /// The scale as the first factor of an epilogue; the zero points for each column.
  [[nodiscard]] OwnedEpilogue epilogue(std::int64_t columns) const;
  [[nodiscard]] std::vector<float> column_zero_points(std::int64_t columns) const;
};

/// The weight where it can be packed: f32 stored as f32, f16 or bf16, or i8 or u8 under a
/// DequantizeLinear. Changes nothing; who packs it calls `Rewriter::release` for its value.
[[nodiscard]] std::optional<ProductWeight> product_weight(Rewriter& rewriter, ValueId id);

}  // namespace plimsoll::tensor
