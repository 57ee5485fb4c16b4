// MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv → kernels over packed bytes. Why it
// exists: their operands lie in other places than a float product's. May touch: rewriter.h,
// integer_product_node.h.
#pragma once

#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {

/// Emits the kernel for one of these operators; false, with nothing emitted, for others and for
/// forms that the kernel lacks: groups, zero points or scales by row, what is not known now.
[[nodiscard]] bool lower_integer_product(Rewriter& rewriter, const ProgramNode& node);

}  // namespace plimsoll::tensor
