// What the compiler does not know yet: each is refused by name when a body that uses it is
// compiled.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

void Compiler::v128_const(std::span<const std::byte> /*bytes*/) {
  not_implemented("v128.const");
}
void Compiler::shuffle(std::span<const std::byte> /*lanes*/) {
  not_implemented("i8x16.shuffle");
}
void Compiler::lane(Opcode opcode, std::uint8_t /*lane*/) {
  not_implemented(opcode_name(opcode));
}
void Compiler::load_lane(Opcode opcode, const MemoryArgument& /*argument*/, std::uint8_t /*lane*/) {
  not_implemented(opcode_name(opcode));
}
void Compiler::store_lane(Opcode opcode, const MemoryArgument& /*argument*/,
                          std::uint8_t /*lane*/) {
  not_implemented(opcode_name(opcode));
}
void Compiler::atomic(Opcode opcode, const MemoryArgument& /*argument*/) {
  not_implemented(opcode_name(opcode));
}
void Compiler::atomic_fence() {
  not_implemented("atomic.fence");
}

}  // namespace plimsoll::wasm::baseline
