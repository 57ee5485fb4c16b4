// Softmax and layer normalisation over rows that lie side by side. Why it exists: their references
// take one element at a time; here a target's vectors do. May touch: kernel_node.h,
// kernels/table.h.
#pragma once

#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {

/// Emits the kernel for a Softmax over the last axis or a LayerNormalization with one output, of
/// f32; false, with nothing emitted, for others.
[[nodiscard]] bool lower_row_operator(Rewriter& rewriter, const ProgramNode& node);

}  // namespace plimsoll::tensor
