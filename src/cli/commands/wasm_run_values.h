// Arguments and results of `plimsoll wasm run --invoke` as text. Why it exists: people write
// numbers, guests take cells. May touch: wasm/runtime/context.h, wasm/runtime/reference.h.
#pragma once

#include <string>

#include "wasm/binary/value_type.h"
#include "wasm/runtime/context.h"

namespace plimsoll::cli {

/// A number of the type: integers in decimal (signed or unsigned) or hexadecimal with 0x; floats as
/// C's strtod reads them; a v128 as 0x and up to 32 digits, the highest lane first; `null` for a
/// nullable reference. Throws Error(bad_input) naming the text and the type.
[[nodiscard]] wasm::Cell parse_guest_value(const std::string& text, wasm::ValueType type);
/// "-5", "0.1", "0x0…01", "null", "function"; integers as signed decimals, floats as the shortest
/// text that is read back as the same number.
[[nodiscard]] std::string format_guest_value(const wasm::Cell& cell, wasm::ValueType type);

}  // namespace plimsoll::cli
