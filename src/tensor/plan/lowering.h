// Graph nodes → kernel nodes: channels-last layout, packed weights, fused epilogues. Why it exists:
// it is where the speed and most of the saved memory come from, and it must not change results. May
// touch: graph/program.h, plan/*_node.h.
//
// Layout: a convolution's image is computed as [N, H, W, C]. Values get a channels-last twin when
// one is made; operators that can work on the twin do; a Transpose is inserted only where somebody
// needs the original order. Fusion: a node whose only reader follows may take that reader into its
// epilogue (scale, bias, activation, residual), and is then computed where the reader stood.
#pragma once

#include "tensor/graph/program.h"
#include "tensor/kernels/target.h"

namespace plimsoll::tensor {

/// Rewrites `program` in place. Images and products of f32 are lowered, those of f16
/// and bf16 as f32 (half_widening.h); all else stays.
void lower_program(Program& program, kernels::Target target);

}  // namespace plimsoll::tensor
