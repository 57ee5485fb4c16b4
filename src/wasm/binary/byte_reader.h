// A cursor over bytes of a module. Why it exists: every read is checked against the end, integers
// are read as the binary format's LEB128 with all of its rules, and every fault carries the offset.
// May touch: decode_error.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wasm/binary/decode_error.h"

namespace plimsoll::wasm {

/// Thrown by a reader that may get more bytes later when it needs them now. The decoder catches it
/// and tries again with more.
struct Incomplete {};

/// Reads from a span that it does not own. Cheap to copy: a copy is a saved position.
class ByteReader {
 public:
  enum class End : std::uint8_t {
    is_final,   ///< running out is an error
    may_extend  ///< running out throws Incomplete
  };

  /// `offset` is where `bytes` begin in the module; `unit` is what ends where they end ("section").
  ByteReader(std::span<const std::byte> bytes, std::uint64_t offset, std::string_view unit,
             End end = End::is_final) noexcept
      : begin_(bytes.data()),
        cursor_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        offset_(offset),
        unit_(unit),
        at_end_(end) {}

  [[nodiscard]] std::uint64_t offset() const noexcept {
    return offset_ + static_cast<std::uint64_t>(cursor_ - begin_);
  }
  [[nodiscard]] std::size_t remaining() const noexcept {
    return static_cast<std::size_t>(end_ - cursor_);
  }
  [[nodiscard]] std::size_t consumed() const noexcept {
    return static_cast<std::size_t>(cursor_ - begin_);
  }
  [[nodiscard]] bool at_end() const noexcept { return cursor_ == end_; }
  [[nodiscard]] const std::byte* cursor() const noexcept { return cursor_; }

  /// `what` names the thing read, for the message: "expected the number of imports".
  [[nodiscard]] std::uint8_t byte(const char* what) {
    if (cursor_ == end_) [[unlikely]] {
      run_out(what);
    }
    return static_cast<std::uint8_t>(*cursor_++);
  }
  [[nodiscard]] std::uint8_t peek(const char* what) {
    if (cursor_ == end_) [[unlikely]] {
      run_out(what);
    }
    return static_cast<std::uint8_t>(*cursor_);
  }
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t count, const char* what) {
    if (count > remaining()) [[unlikely]] {
      run_out(what);
    }
    const std::span<const std::byte> read(cursor_, count);
    cursor_ += count;
    return read;
  }

  [[nodiscard]] std::uint32_t u32(const char* what) {
    if (cursor_ != end_ && static_cast<std::uint8_t>(*cursor_) < 0x80) [[likely]] {
      return static_cast<std::uint8_t>(*cursor_++);
    }
    return static_cast<std::uint32_t>(long_unsigned(32, what));
  }
  [[nodiscard]] std::uint64_t u64(const char* what) {
    if (cursor_ != end_ && static_cast<std::uint8_t>(*cursor_) < 0x80) [[likely]] {
      return static_cast<std::uint8_t>(*cursor_++);
    }
    return long_unsigned(64, what);
  }
  [[nodiscard]] std::int32_t s32(const char* what) {
    return static_cast<std::int32_t>(long_signed(32, what));
  }
  [[nodiscard]] std::int64_t s33(const char* what) { return long_signed(33, what); }
  [[nodiscard]] std::int64_t s64(const char* what) { return long_signed(64, what); }
  /// Little-endian, unaligned.
  [[nodiscard]] std::uint32_t fixed_u32(const char* what);
  [[nodiscard]] std::uint64_t fixed_u64(const char* what);

  /// A count of things that take at least one byte each; refuses more than `most` (named by
  /// `what`), and more than the bytes that are left can hold where the end is final.
  [[nodiscard]] std::uint32_t count(std::uint32_t most, const char* what);
  /// Length, then UTF-8.
  [[nodiscard]] std::string_view name(const char* what);

  /// Throws Error(bad_input) with the offset of the cursor.
  [[noreturn]] void fail(const std::string& message) const { fail_decode(offset(), message); }

 private:
  [[noreturn]] void run_out(const char* what) const;
  std::uint64_t long_unsigned(unsigned bits, const char* what);
  std::int64_t long_signed(unsigned bits, const char* what);

  const std::byte* begin_;
  const std::byte* cursor_;
  const std::byte* end_;
  std::uint64_t offset_;
  std::string_view unit_;
  End at_end_;
};

}  // namespace plimsoll::wasm
