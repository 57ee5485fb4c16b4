// Graph nodes → kernel nodes: channels-last layout, packed weights, fused epilogues. Why it exists:
// it is where the speed and most of the saved memory come from, and it must not change results. May
// touch: graph/program.h, plan/*_node.h.
//
// First whole programs: 16-bit floats are widened (half_widening.h), operators spelled in pieces
// are put together (operator_patterns.h). Then node by node, the first that can takes it:
//
//   epilogue_fusion              a kernel that has just been emitted computes the node too
//   product_lowering             convolutions and products with packed weights
//   integer_product_lowering     the same of bytes
//   activation_product_lowering  products of two activations, and what surrounds them
//   row_node                     softmax, layer normalisation
//   elementwise_lowering         chains of elementwise operators
//   image_lowering               what lies between convolutions
//
// Layout: a convolution's image is computed as [N, H, W, C]. Values get a channels-last twin when
// one is made (rewriter.h); operators that can work on the twin do; a Transpose is inserted only
// where somebody needs the original order. Fusion: a node whose only reader follows may take that
// reader in, and is then computed where the reader stood.
#pragma once

#include "tensor/graph/program.h"
#include "tensor/kernels/target.h"

namespace plimsoll::tensor {

/// Rewrites `program` in place. What no kernel computes stays as it is, on its operator's
/// reference.
void lower_program(Program& program, kernels::Target target);

}  // namespace plimsoll::tensor
