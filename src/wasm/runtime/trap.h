// Why a guest was stopped. Why it exists: compiled code, the signal handler and the embedder name
// the same reasons. May touch: the standard library.
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll::wasm {

enum class TrapKind : std::uint8_t {
  none,
  unreachable,
  memory_out_of_bounds,
  table_out_of_bounds,
  integer_divide_by_zero,
  integer_overflow,
  invalid_conversion,
  undefined_element,
  uninitialized_element,
  indirect_call_type_mismatch,
  null_reference,
  null_function_reference,
  null_i31_reference,
  cast_failure,
  unaligned_atomic,
  expected_shared_memory,
  stack_overflow,
  interrupted,
  recorded,  ///< a called part of the runtime has written the reason to the activation
};

/// "integer divide by zero": the words of the specification's tests.
[[nodiscard]] std::string_view trap_message(TrapKind kind) noexcept;

}  // namespace plimsoll::wasm
