// Protobuf varints as tensor elements. Why it exists: import decodes small payloads at once and
// StoredTensor::read decodes large ones by pieces; both must agree. May touch: element_type.h.
//
// A varint holds 7 bits a byte, lowest first; the high bit says that more follow; at most 10 bytes
// (protobuf.dev/programming-guides/encoding). Negative numbers are sign-extended to 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plimsoll/element_type.h"

namespace plimsoll::tensor {

/// Decodes one byte at a time, so that a varint may straddle two buffers.
class VarintDecoder {
 public:
  /// True when this byte completes a number, which is then in value(). After too_long() nothing
  /// completes any more.
  [[nodiscard]] bool push(std::byte byte) noexcept {
    if (shift_ == 0) value_ = 0;
    if (shift_ > last_shift) return false;
    const auto bits = static_cast<std::uint64_t>(byte);
    value_ |= (bits & 0x7FU) << shift_;
    if ((bits & 0x80U) != 0) {
      shift_ += 7;
      return false;
    }
    shift_ = 0;
    return true;
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }
  [[nodiscard]] bool too_long() const noexcept { return shift_ > last_shift; }
  /// True between numbers: data that ends elsewhere was cut.
  [[nodiscard]] bool complete() const noexcept { return shift_ == 0; }

 private:
  static constexpr unsigned last_shift = 63;  // the tenth byte
  std::uint64_t value_ = 0;
  unsigned shift_ = 0;
};

/// Stores a number as one element: integers and 16-bit floats (as bits) keep their low bits, as
/// protobuf truncates them; a bool is whether it differs from 0. `type` is not f32, f64, string.
void store_integer(ElementType type, std::uint64_t value, std::byte* to) noexcept;

}  // namespace plimsoll::tensor
