// A value as a part of another one's memory: what Transpose, Slice and Reshape make of it, without
// copying. Why it exists: attention cuts, splits and turns its operands before each product, and a
// kernel that walks with strides reads them where they are. May touch: rewriter.h.
#pragma once

#include <vector>

#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {

/// Element (i, j, …) of the value is element offset + i·strides[0] + j·strides[1] + … of `source`,
/// times `factor`.
struct StridedView {
  ValueId source = no_value;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  float factor = 1;
};

/// The value itself.
[[nodiscard]] StridedView plain_view(Rewriter& rewriter, ValueId id);

/// The value seen through the emitted nodes that only rearrange (Transpose, Slice, Reshape,
/// Squeeze, Unsqueeze, Flatten) or scale it by a number, as far up as strides can tell. Changes
/// nothing: who uses the view calls `Rewriter::release` for the value and reads `source` in the
/// graph's order.
[[nodiscard]] StridedView view_through(Rewriter& rewriter, ValueId id);

}  // namespace plimsoll::tensor
