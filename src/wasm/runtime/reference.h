// What a reference is in memory. Why it exists: compiled code, the runtime and embedders must tell
// the kinds apart without asking. May touch: context.h.
//
//   0                       null
//   number << 1 | 1         i31, in the lower 32 bits
//   number << 2 | 2         of the host: whatever the embedder means by it
//   address of a record     function; a multiple of 8
#pragma once

#include <cstdint>

#include "wasm/runtime/context.h"

namespace plimsoll::wasm::reference {

[[nodiscard]] constexpr std::uint64_t of_i31(std::uint64_t number) noexcept {
  return static_cast<std::uint32_t>(number << 1U | 1U);
}
[[nodiscard]] constexpr bool is_i31(std::uint64_t reference) noexcept {
  return (reference & 1U) != 0;
}
/// The number needs at most 62 bits.
[[nodiscard]] constexpr std::uint64_t of_host(std::uint64_t number) noexcept {
  return number << 2U | 2U;
}
[[nodiscard]] inline const FunctionRecord& to_function(std::uint64_t reference) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that came as a number
  return *reinterpret_cast<const FunctionRecord*>(reference);
}

}  // namespace plimsoll::wasm::reference
