// Convolutions and products with a weight → kernels over packed weights. Why it exists: which forms
// the kernels take is one question, how the program is rewritten another. May touch: rewriter.h,
// product_node.h.
#pragma once

#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {

/// Emits the kernel for a Conv, ConvTranspose, MatMul or Gemm; false, with nothing emitted, for
/// other operators and for forms that the kernels lack.
[[nodiscard]] bool lower_product(Rewriter& rewriter, const ProgramNode& node);

}  // namespace plimsoll::tensor
