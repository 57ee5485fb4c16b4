#include "tensor/run/operands.h"

namespace plimsoll::tensor {

KernelOperand StageMemory::operand(const Place& place, ValueId id) const {
  KernelOperand result;
  if (id == no_value) return result;
  result.type = program.values[id].type;
  result.ring_rows = place.ring_rows;
  switch (place.kind) {
    case Place::Kind::none:
      break;
    case Place::Kind::arena:
    case Place::Kind::streamed:
      result.data = arena + place.offset;
      break;
    case Place::Kind::external:
      result.data = externals[place.index];
      break;
    case Place::Kind::constant:
      result.data = const_cast<std::byte*>(place.memory);  // NOLINT: inputs are only read
      break;
    case Place::Kind::weight:
      result.data = const_cast<std::byte*>(weights[place.index]->data());  // NOLINT: the same
      break;
  }
  return result;
}

}  // namespace plimsoll::tensor
