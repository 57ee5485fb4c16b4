// RandomNormal, RandomUniform, their Like forms, Bernoulli and Multinomial. Why it exists: apart
// from the other generators, which are pure functions of their inputs. May touch: operator.h.
#pragma once

#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

void register_random_operators(OperatorTable& table);

}  // namespace plimsoll::tensor
