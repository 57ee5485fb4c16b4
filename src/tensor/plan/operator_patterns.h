// Operators that exporters spell out in pieces, put together again. Why it exists: HardSwish
// written as Add, Clip, Mul and Div is four passes over memory; as one operator it is none, because
// a product's epilogue takes it over. May touch: graph/program.h, operators/operator.h.
//
//   HardSigmoid         clip(x + 3, 0, 6)/6
//   HardSwish           x·HardSigmoid(x), whatever the order of its factors
//   Swish               x·Sigmoid(x)
//   Gelu                x·(1 + erf(x/√2))·½, whatever the order; and with
//                       tanh(√(2/π)·(x + 0.044715·x³)) for the error function
//   LayerNormalization  (x − mean)/√(mean((x − mean)²) + ε)·scale [+ bias] over the last axis
//
// The operator that takes the place of the pieces computes the same formula; results differ by
// float rounding only (tests/plan/operator_patterns_test.cpp). Multiplications by 1 go as well.
#pragma once

#include "tensor/graph/program.h"

namespace plimsoll::tensor {

/// Rewrites `program` in place. f32 only. A piece whose value somebody else reads stays.
void contract_patterns(Program& program);

}  // namespace plimsoll::tensor
