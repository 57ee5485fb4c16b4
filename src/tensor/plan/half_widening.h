// Programs of 16-bit floats, computed in f32. Why it exists: kernels compute in f32, and CPUs have
// no fast arithmetic on f16 or bf16; widened once where it enters, a value runs on every kernel and
// every fusion that f32 has. May touch: graph/program.h, operators/operator.h.
//
// Weights stay as they are stored: their panels hold 16 bits an element, and the kernels widen them
// in registers. Activations take 32 bits between the first product and the last; what the model
// gives and takes, and what is cast on purpose, stays 16 bits. Intermediate results are not rounded
// to 16 bits, so they differ from the references' by that rounding.
#pragma once

#include "tensor/graph/program.h"

namespace plimsoll::tensor {

/// Rewrites `program` in place. Does nothing where no product or convolution works on 16-bit
/// floats.
void widen_halves(Program& program);

}  // namespace plimsoll::tensor
