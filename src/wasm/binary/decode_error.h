// How decoding and validation report what is wrong. Why it exists: every message carries the byte
// offset in the module, in the same shape, and says what was expected. May touch: plimsoll/error.h.
#pragma once

#include <cstdint>
#include <string>

#include "plimsoll/error.h"
#include "plimsoll/refusal.h"

namespace plimsoll::wasm {

/// Throws Error(bad_input) "at byte 419 (0x1a3): MESSAGE".
[[noreturn]] void fail_decode(std::uint64_t offset, const std::string& message);
/// The same as Error(unsupported): valid WebAssembly that is not implemented, by name.
[[noreturn]] void fail_not_implemented(std::uint64_t offset, const std::string& message);

/// Thrown inside the decoder where a claim on the budget is refused; the decoder's public functions
/// turn it into a value. Never crosses them.
struct OutOfBudget {
  Refusal refusal;
};

}  // namespace plimsoll::wasm
