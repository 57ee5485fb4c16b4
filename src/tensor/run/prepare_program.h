// What is done to a stage's program before it is planned. Why it exists: looking ahead must see the
// program that a run will see. May touch: execution.h, plan/.
#pragma once

#include "tensor/run/execution.h"

namespace plimsoll::tensor {

/// Lowers the program, drops what nothing depends on, and orders the nodes for the peak.
void prepare_program(Program& program, const ExecutionServices& services);

}  // namespace plimsoll::tensor
