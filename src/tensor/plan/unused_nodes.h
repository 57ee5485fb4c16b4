// Drops nodes that nothing depends on. Why it exists: lowering leaves behind what it has replaced,
// and models carry dead branches. May touch: graph/program.h.
#pragma once

#include "tensor/graph/program.h"

namespace plimsoll::tensor {

/// Removes nodes none of whose results is read by another node or after the stage.
void remove_unused_nodes(Program& program);

}  // namespace plimsoll::tensor
