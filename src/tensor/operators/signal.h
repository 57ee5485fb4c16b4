// The parts of the signal family. Why it exists: windows and transforms are files of their own. May
// touch: operator.h.
#pragma once

#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

void register_windows(OperatorTable& table);

}  // namespace plimsoll::tensor
