// One value that the compiler follows: a local or an entry of the operand stack. Why it exists: see
// x64/value_stack.h. May touch: value_type.h.
#pragma once

#include <cstdint>

#include "wasm/binary/value_type.h"

namespace plimsoll::wasm::baseline {

/// A machine register: 0 to 15 general, 16 to 31 vector.
using Register = std::uint8_t;
inline constexpr Register no_register = 0xFF;

enum class Place : std::uint8_t {
  memory,       ///< in its home in the frame
  in_register,  ///< and in its home too where `is_clean`
  constant,     ///< a number that fits 32 bits, extended by sign
  flags,        ///< the outcome of the comparison emitted last; only on top of the stack
};

struct Slot {
  Place place = Place::memory;
  ValueType::Kind kind = ValueType::Kind::i32;
  Register in = no_register;
  bool is_clean = false;
  std::int32_t value = 0;  ///< the constant, or the condition code
  std::uint32_t home = 0;  ///< bytes below rbp

  [[nodiscard]] bool is_vector_class() const noexcept {
    return kind == ValueType::Kind::f32 || kind == ValueType::Kind::f64 ||
           kind == ValueType::Kind::v128;
  }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return kind == ValueType::Kind::v128 ? 16 : 8;
  }
};

}  // namespace plimsoll::wasm::baseline
