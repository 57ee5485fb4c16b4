#include "wasm/binary/byte_reader.h"

#include <fmt/format.h>

#include <cstring>

#include "wasm/binary/implementation_limits.h"
#include "wasm/binary/utf8.h"

namespace plimsoll::wasm {

void ByteReader::run_out(const char* what) const {
  if (at_end_ == End::may_extend) throw Incomplete{};
  fail(fmt::format("unexpected end of the {}: expected {}", unit_, what));
}

std::uint64_t ByteReader::long_unsigned(unsigned bits, const char* what) {
  const std::uint64_t start = offset();
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t next = byte(what);
    const unsigned left = bits - shift;  // bits of the value that are still open, at least 1
    if (left < 7 && (next & 0x7FU) >> left != 0) {
      fail_decode(start, fmt::format("integer too large: expected {} in {} bits", what, bits));
    }
    value |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
    if ((next & 0x80U) == 0) return value;
    if (left <= 7) {
      fail_decode(start, fmt::format("integer representation too long: expected {} in {} bits",
                                     what, bits));
    }
  }
}

std::int64_t ByteReader::long_signed(unsigned bits, const char* what) {
  const std::uint64_t start = offset();
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t next = byte(what);
    const unsigned left = bits - shift;
    if (left <= 7) {
      // The last byte: no further one, and its bits past the value repeat the sign.
      if ((next & 0x80U) != 0) {
        fail_decode(start, fmt::format("integer representation too long: expected {} in {} bits",
                                       what, bits));
      }
      const unsigned tail = (next & 0x7FU) >> (left - 1);
      const unsigned ones = 0x7FU >> (left - 1);
      if (tail != 0 && tail != ones) {
        fail_decode(start, fmt::format("integer too large: expected {} in {} bits", what, bits));
      }
    }
    value |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
    if ((next & 0x80U) == 0) {
      const unsigned filled = shift + 7;
      if (filled < 64 && (next & 0x40U) != 0) value |= ~std::uint64_t{0} << filled;
      return static_cast<std::int64_t>(value);
    }
  }
}

std::uint32_t ByteReader::fixed_u32(const char* what) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes(sizeof value, what).data(), sizeof value);
  return value;
}

std::uint64_t ByteReader::fixed_u64(const char* what) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes(sizeof value, what).data(), sizeof value);
  return value;
}

std::uint32_t ByteReader::count(std::uint32_t most, const char* what) {
  const std::uint64_t start = offset();
  const std::uint32_t value = u32(what);
  if (value > most) {
    fail_decode(start,
                fmt::format("{}: {} is more than the {} that are accepted", what, value, most));
  }
  if (at_end_ == End::is_final && value > remaining()) {
    fail_decode(start, fmt::format("unexpected end of the {}: {} is {} and {} bytes are left",
                                   unit_, what, value, remaining()));
  }
  return value;
}

std::string_view ByteReader::name(const char* what) {
  const std::uint64_t start = offset();
  const std::uint32_t length = u32(what);
  if (length > limits::name_bytes) {
    fail_decode(start,
                fmt::format("length out of bounds: {} of {} bytes is longer than the {} that "
                            "are accepted",
                            what, length, limits::name_bytes));
  }
  const std::span<const std::byte> read = bytes(length, what);
  const std::string_view text(reinterpret_cast<const char*>(read.data()), read.size());
  if (!is_utf8(text)) fail_decode(start, fmt::format("malformed UTF-8 encoding: {}", what));
  return text;
}

}  // namespace plimsoll::wasm
