// Protobuf's wire format read from a file through one bounded buffer. Why it exists: generated
// protobuf classes would copy every payload; here a payload is skipped by offset, and what is
// skipped is never read. May touch: archive/source_file.h, structure_limit.h.
//
// Format (protobuf.dev/programming-guides/encoding): a message is a list of fields, each a key
// (number << 3 | wire type) and a value:
//   0 varint    7 bits a byte, lowest first, the high bit says that more follow; at most 10 bytes
//   1 fixed64   8 bytes, little-endian
//   2 bytes     a varint length, then so many bytes: a string, a nested message or packed numbers
//   5 fixed32   4 bytes, little-endian
//
// protobuf-lite's CodedInputStream counts in 32 bits and models reach beyond 2 GB; the four wire
// types are decoded here, with 64-bit positions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/archive/source_file.h"
#include "tensor/import/structure_limit.h"

namespace plimsoll::tensor {

/// Reads forward within a file. Every fault is an Error(bad_input) with the byte where it is.
class WireReader {
 public:
  /// Structure lies in runs of a few KiB between payloads; a longer buffer would mostly be filled
  /// with payload bytes that are then skipped.
  static constexpr std::size_t buffer_bytes = std::size_t{16} * 1024;
  /// Protobuf's own readers stop here as well; one subgraph takes three levels.
  static constexpr int deepest_nesting = 100;

  enum WireType : std::uint32_t {
    varint_type = 0,
    fixed64_type = 1,
    bytes_type = 2,
    fixed32_type = 5
  };
  struct Field {
    std::uint32_t number = 0;
    std::uint32_t wire_type = 0;
  };
  struct Range {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };

  /// `limit` is charged for every string and must outlive the reader.
  WireReader(std::shared_ptr<const SourceFile> file, StructureLimit& limit);

  /// False at the end of the current message.
  [[nodiscard]] bool next(Field& field);
  [[nodiscard]] bool at_end() const { return position_ == end_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] const std::shared_ptr<const SourceFile>& file() const { return file_; }
  [[nodiscard]] StructureLimit& limit() { return limit_; }

  // Values of the field that next() returned. Each fails when the field has another wire type.
  [[nodiscard]] std::uint64_t varint(const Field& field);
  [[nodiscard]] std::int64_t integer(const Field& field) {
    return static_cast<std::int64_t>(varint(field));
  }
  [[nodiscard]] float real(const Field& field);
  /// A string of at most `most` bytes; `what` names it in the message when it is longer.
  [[nodiscard]] std::string text(const Field& field, std::size_t most, const char* what);
  /// Where the bytes of the field are; they are skipped, not read.
  [[nodiscard]] Range skip_payload(const Field& field);
  /// Length of the field's bytes, which must be consumed by read_bytes or skip_bytes next.
  [[nodiscard]] std::uint64_t length(const Field& field);
  void read_bytes(std::span<std::byte> destination);
  void skip_bytes(std::uint64_t bytes);
  void skip(const Field& field);

  /// Calls read(*this) within the nested message that the field holds.
  template <typename Read>
  auto message(const Field& field, Read read) {
    const Nesting nesting(*this, length(field));
    return read(*this);
  }
  /// Calls add(value) for the numbers of a repeated field, packed or not.
  template <typename Add>
  void integers(const Field& field, Add add) {
    if (field.wire_type == varint_type) return add(static_cast<std::int64_t>(raw_varint()));
    const Nesting nesting(*this, length(field));
    while (!at_end()) add(static_cast<std::int64_t>(raw_varint()));
  }
  template <typename Add>
  void reals(const Field& field, Add add) {
    if (field.wire_type == fixed32_type) return add(raw_float());
    const Nesting nesting(*this, length(field));
    while (!at_end()) add(raw_float());
  }

  [[noreturn]] void fail(const std::string& what) const;

 private:
  /// Narrows the reader to the next `bytes` bytes for a scope; whoever stays must read them all.
  class Nesting {
   public:
    Nesting(WireReader& reader, std::uint64_t bytes) : reader_(reader), outer_end_(reader.end_) {
      reader_.enter(bytes);
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() {
      --reader_.depth_;
      reader_.end_ = outer_end_;
    }

   private:
    WireReader& reader_;
    std::uint64_t outer_end_;
  };

  void enter(std::uint64_t bytes);
  void expect(const Field& field, WireType type) const;
  void fill();
  [[nodiscard]] std::uint8_t byte();
  [[nodiscard]] std::uint64_t raw_varint();
  [[nodiscard]] float raw_float();

  std::shared_ptr<const SourceFile> file_;
  StructureLimit& limit_;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_start_ = 0;
  std::uint64_t buffer_end_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t end_ = 0;  // of the current message
  int depth_ = 0;
};

}  // namespace plimsoll::tensor
