// Protobuf's wire format read from a file through one bounded buffer. Why it exists: generated
// protobuf classes would copy every payload; here a payload is skipped by offset, and what is
// skipped is never read. May touch: archive/source_file.h. Format: protobuf's published encoding.
//
// protobuf-lite's CodedInputStream would do the varints, but its Skip on a stream reads through
// 32-bit counts, and models reach beyond 2 GB; the few wire types needed are decoded here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/archive/source_file.h"

namespace plimsoll::tensor {

/// Reads forward within [begin, end) of a file or of memory.
class WireReader {
 public:
  /// One page of buffer: headers are small and payloads are skipped.
  static constexpr std::size_t buffer_bytes = 16 * 1024;

  explicit WireReader(std::shared_ptr<const SourceFile> file);

  /// A field's key. wire_type as in the format: 0 varint, 1 64-bit, 2 length-delimited, 5 32-bit.
  struct Field {
    std::uint32_t number = 0;
    std::uint32_t wire_type = 0;
  };
  /// False at the end of the current message.
  [[nodiscard]] bool next(Field& field);
  [[nodiscard]] bool at_end() const { return position_ >= end_; }
  [[nodiscard]] std::uint64_t varint();
  [[nodiscard]] std::uint32_t fixed32();
  [[nodiscard]] std::uint64_t fixed64();
  /// Length of a length-delimited field, checked against what is left of the message.
  [[nodiscard]] std::uint64_t length();
  /// A string of at most `limit` bytes; Error(bad_input) beyond.
  [[nodiscard]] std::string text(std::size_t limit);
  void skip_bytes(std::uint64_t count);
  void skip(const Field& field);
  [[nodiscard]] std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position) { position_ = position; }

  /// Enters a nested message of `bytes` bytes; the returned end must be given back to leave().
  [[nodiscard]] std::uint64_t enter(std::uint64_t bytes);
  void leave(std::uint64_t outer_end);
  [[nodiscard]] const std::shared_ptr<const SourceFile>& file() const { return file_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::uint8_t byte();
  std::shared_ptr<const SourceFile> file_;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_start_ = 0;
  std::uint64_t buffer_length_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t end_ = 0;
  int depth_ = 0;
};

}  // namespace plimsoll::tensor
