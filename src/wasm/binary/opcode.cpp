#include "wasm/binary/opcode.h"

namespace plimsoll::wasm {

std::string_view opcode_name(Opcode opcode) noexcept {
  switch (opcode) {
#define PLIMSOLL_OPCODE(enumerator, number, name, feature, form, signature, extra) \
  case Opcode::enumerator:                                                         \
    return name;
#include "wasm/binary/opcodes/atomic.inc"
#include "wasm/binary/opcodes/bulk.inc"
#include "wasm/binary/opcodes/control.inc"
#include "wasm/binary/opcodes/numeric.inc"
#include "wasm/binary/opcodes/reference.inc"
#include "wasm/binary/opcodes/simd.inc"
#undef PLIMSOLL_OPCODE
  }
  return "";
}

}  // namespace plimsoll::wasm
