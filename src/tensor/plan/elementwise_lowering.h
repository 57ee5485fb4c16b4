// Elementwise operators → one pass over memory for a chain of them. Why it exists: which operators
// join a chain, and when, is apart from how the chain runs. May touch: rewriter.h,
// elementwise_node.h.
#pragma once

#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {

/// Emits a kernel for an elementwise operator of f32, with the chains of such kernels that made its
/// operands and that nobody else reads; on channels-last twins where an operand has one. False,
/// with nothing emitted, for other operators.
[[nodiscard]] bool lower_elementwise_chain(Rewriter& rewriter, const ProgramNode& node);

}  // namespace plimsoll::tensor
