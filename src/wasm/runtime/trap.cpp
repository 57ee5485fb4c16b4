#include "wasm/runtime/trap.h"

namespace plimsoll::wasm {

std::string_view trap_message(TrapKind kind) noexcept {
  switch (kind) {
    case TrapKind::none:
    case TrapKind::recorded:
      return "no trap";
    case TrapKind::unreachable:
      return "unreachable";
    case TrapKind::memory_out_of_bounds:
      return "out of bounds memory access";
    case TrapKind::table_out_of_bounds:
      return "out of bounds table access";
    case TrapKind::integer_divide_by_zero:
      return "integer divide by zero";
    case TrapKind::integer_overflow:
      return "integer overflow";
    case TrapKind::invalid_conversion:
      return "invalid conversion to integer";
    case TrapKind::undefined_element:
      return "undefined element";
    case TrapKind::uninitialized_element:
      return "uninitialized element";
    case TrapKind::indirect_call_type_mismatch:
      return "indirect call type mismatch";
    case TrapKind::null_reference:
      return "null reference";
    case TrapKind::null_function_reference:
      return "null function reference";
    case TrapKind::null_i31_reference:
      return "null i31 reference";
    case TrapKind::cast_failure:
      return "cast failure";
    case TrapKind::unaligned_atomic:
      return "unaligned atomic";
    case TrapKind::expected_shared_memory:
      return "expected shared memory";
    case TrapKind::stack_overflow:
      return "call stack exhausted";
    case TrapKind::interrupted:
      return "interrupted";
  }
  return "?";
}

}  // namespace plimsoll::wasm
