// Vector instructions of the standard that are one instruction of the machine. Why it exists: most
// are; a table says which, and code is left for the rest. May touch: asmjit, opcode.h.
#pragma once

#include <cstdint>

#include "wasm/baseline/x64/registers.h"
#include "wasm/binary/opcode.h"

namespace plimsoll::wasm::baseline {

struct SimdInstruction {
  std::uint32_t id = 0;     ///< of asmjit; 0: not one instruction
  bool is_swapped = false;  ///< the right operand is the one that is changed
  std::int16_t immediate = -1;
};

/// "op left, right".
[[nodiscard]] SimdInstruction simd_binary(Opcode opcode);
/// "op result, operand".
[[nodiscard]] SimdInstruction simd_unary(Opcode opcode);

}  // namespace plimsoll::wasm::baseline
