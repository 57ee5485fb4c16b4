// What the compiler does not know yet: each is refused by name when a body that uses it is
// compiled.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

void Compiler::atomic(Opcode opcode, const MemoryArgument& /*argument*/) {
  not_implemented(opcode_name(opcode));
}
void Compiler::atomic_fence() {
  not_implemented("atomic.fence");
}

}  // namespace plimsoll::wasm::baseline
