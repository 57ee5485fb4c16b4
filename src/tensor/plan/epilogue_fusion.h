// A node that only works on what a kernel has just summed joins the kernel's epilogue. Why it
// exists: scale, bias, residual and activation are free while the tile is in registers. May touch:
// rewriter.h, product_node.h, activation_match.h.
#pragma once

#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {

/// Replaces the emitted kernel that made an operand of `node`, its only reader, by one that
/// computes `node` too, where `node` stands. False, with nothing changed, where none can.
[[nodiscard]] bool fuse_into_epilogue(Rewriter& rewriter, const ProgramNode& node);

}  // namespace plimsoll::tensor
