// The parts of the family that chooses by value. Why it exists: each is an algorithm of its own.
// May touch: operator.h.
#pragma once

#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

void register_top_k(OperatorTable& table);
void register_unique(OperatorTable& table);
void register_suppression(OperatorTable& table);

}  // namespace plimsoll::tensor
