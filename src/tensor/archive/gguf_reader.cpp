// Source of the format: ggml's docs/gguf.md. Versions 2 and 3, little-endian.
//
//   0   "GGUF", u32 version, u64 number of tensors, u64 number of facts
//   24  facts: string key, u32 type, value; a string is u64 length and bytes; an array is
//       u32 type, u64 count, values
//       tensors: string name, u32 rank, u64 dimensions (the innermost first), u32 type, u64 offset
//       padding to `general.alignment` (32 unless said), then data, from which the offsets count
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "plimsoll/error.h"
#include "tensor/archive/file_window.h"
#include "tensor/archive/formats.h"

namespace plimsoll::tensor {
namespace {

constexpr std::uint32_t string_type = 8;
constexpr std::uint32_t array_type = 9;
// Bytes of each type of fact; 0: string and array.
constexpr std::array<std::uint8_t, 13> fact_bytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::uint64_t smallest_fact = 8 + 4 + 1;
constexpr std::uint64_t smallest_tensor = 8 + 4 + 4 + 8;
constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 20;

// By ggml's number; what it has retired is unknown.
// clang-format off
constexpr std::array<ArchiveType, 42> types = {
    ArchiveType::f32, ArchiveType::f16, ArchiveType::q4_0, ArchiveType::q4_1,
    ArchiveType::unknown, ArchiveType::unknown, ArchiveType::q5_0, ArchiveType::q5_1,
    ArchiveType::q8_0, ArchiveType::q8_1, ArchiveType::q2_k, ArchiveType::q3_k,
    ArchiveType::q4_k, ArchiveType::q5_k, ArchiveType::q6_k, ArchiveType::q8_k,
    ArchiveType::iq2_xxs, ArchiveType::iq2_xs, ArchiveType::iq3_xxs, ArchiveType::iq1_s,
    ArchiveType::iq4_nl, ArchiveType::iq3_s, ArchiveType::iq2_s, ArchiveType::iq4_xs,
    ArchiveType::i8, ArchiveType::i16, ArchiveType::i32, ArchiveType::i64,
    ArchiveType::f64, ArchiveType::iq1_m, ArchiveType::bf16, ArchiveType::unknown,
    ArchiveType::unknown, ArchiveType::unknown, ArchiveType::tq1_0, ArchiveType::tq2_0,
    ArchiveType::unknown, ArchiveType::unknown, ArchiveType::unknown, ArchiveType::mxfp4,
    ArchiveType::nvfp4, ArchiveType::q1_0,
};
// clang-format on

/// Walks forward through the file; nothing is read beyond its end.
class Cursor {
 public:
  Cursor(const SourceFile& file, std::uint64_t position)
      : window_(file), size_(file.size()), position_(position) {}

  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  void seek(std::uint64_t position) noexcept { position_ = position; }
  [[nodiscard]] std::uint64_t left() const noexcept { return size_ - position_; }
  template <class Number>
  [[nodiscard]] Number number() {
    const auto bytes = take(sizeof(Number));
    return load_little<Number>(bytes, 0);
  }
  /// Up to 64 KiB are seen; what is longer is skipped, and its begin is seen.
  [[nodiscard]] std::string_view string() {
    const auto length = number<std::uint64_t>();
    require(length);
    const auto seen = static_cast<std::size_t>(std::min<std::uint64_t>(length, 1 << 16));
    const auto bytes = window_.at(position_, seen);
    position_ += length;
    return {reinterpret_cast<const char*>(bytes.data()), seen};
  }
  void skip(std::uint64_t count, std::uint64_t bytes) {
    if (count > left() / bytes) fail_cut();
    position_ += count * bytes;
  }
  void skip_string() { skip(number<std::uint64_t>(), 1); }

 private:
  [[nodiscard]] std::span<const std::byte> take(std::size_t length) {
    require(length);
    const auto bytes = window_.at(position_, length);
    position_ += length;
    return bytes;
  }
  void require(std::uint64_t length) const {
    if (length > left()) fail_cut();
  }
  [[noreturn]] void fail_cut() const {
    fail_input(
        fmt::format("what begins at offset {} lies beyond the file's {} bytes: the file was cut "
                    "or damaged; fetch it again",
                    position_, size_));
  }
  FileWindow window_;
  std::uint64_t size_;
  std::uint64_t position_;
};

std::uint64_t bytes_of_fact(std::uint32_t type, std::string_view key) {
  if (type >= fact_bytes.size()) {
    fail_unsupported(fmt::format("the fact '{}' is of type {}, which this build does not know",
                                 key.substr(0, 100), type));
  }
  return fact_bytes[type];
}

void skip_array(Cursor& cursor, const std::string& key) {
  const auto type = cursor.number<std::uint32_t>();
  const auto count = cursor.number<std::uint64_t>();
  if (type == array_type) {
    fail_unsupported(
        fmt::format("the fact '{}' is an array of arrays, which is not supported", key));
  }
  const std::uint64_t bytes = bytes_of_fact(type, key);
  if (type != string_type) {
    cursor.skip(count, bytes);
    return;
  }
  if (count > cursor.left() / 8) {
    fail_input(
        fmt::format("the fact '{}' promises {} strings, more than the file can hold", key, count));
  }
  for (std::uint64_t i = 0; i < count; ++i) cursor.skip_string();
}

/// Passes over the facts; the alignment is the only one that matters here.
std::uint64_t read_facts(Cursor& cursor, std::uint64_t count) {
  std::uint64_t alignment = 32;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string key(cursor.string().substr(0, 100));
    const auto type = cursor.number<std::uint32_t>();
    if (key == "general.alignment") {
      if (type != 4)
        fail_input("'general.alignment' is no number of 32 bits: convert the file anew");
      alignment = cursor.number<std::uint32_t>();
      if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > largest_alignment) {
        fail_input(fmt::format("'general.alignment' is {}; a power of two up to {} is needed",
                               alignment, largest_alignment));
      }
    } else if (type == array_type) {
      skip_array(cursor, key);
    } else if (type == string_type) {
      cursor.skip_string();
    } else {
      cursor.skip(1, bytes_of_fact(type, key));
    }
  }
  return alignment;
}

/// Passes over the tensors' descriptions.
void skip_tensors(Cursor& cursor, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    cursor.skip_string();
    cursor.skip(cursor.number<std::uint32_t>(), 8);
    cursor.skip(1, 4 + 8);
  }
}

NewArchiveEntry read_tensor(Cursor& cursor, std::string& name) {
  name = cursor.string();
  NewArchiveEntry entry;
  entry.key = name;
  const auto rank = cursor.number<std::uint32_t>();
  if (rank > Shape::max_rank) {
    fail_unsupported(fmt::format("'{}' has {} dimensions; at most {} are supported", name, rank,
                                 Shape::max_rank));
  }
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  for (std::uint32_t i = 0; i < rank; ++i) {
    const auto dimension = cursor.number<std::uint64_t>();
    if (dimension > INT64_MAX)
      fail_input(fmt::format("'{}' has a dimension of {}", name, dimension));
    dimensions[rank - 1 - i] = static_cast<std::int64_t>(dimension);
  }
  const auto type = cursor.number<std::uint32_t>();
  entry.type = type < types.size() ? types[type] : ArchiveType::unknown;
  if (entry.type == ArchiveType::unknown) {
    fail_unsupported(fmt::format("'{}' is of type {}, which this build does not know", name, type));
  }
  try {
    entry.shape = Shape(std::span<const std::int64_t>(dimensions.data(), rank));
  } catch (Error& error) {
    error.add_context(fmt::format("'{}'", name));
    throw;
  }
  const auto bytes = archive_bytes(entry.type, *entry.shape);
  if (!bytes) {
    fail_input(
        fmt::format("'{}' of shape {} is no whole number of {} blocks: convert the file anew", name,
                    entry.shape->to_string(), facts_of(entry.type).name));
  }
  entry.length = *bytes;
  entry.offset = cursor.number<std::uint64_t>();
  return entry;
}

bool add_tensors(Cursor& cursor, std::uint64_t count, std::uint64_t data, std::uint64_t alignment,
                 std::uint64_t size, ArchiveIndex& index) {
  std::string name;
  for (std::uint64_t i = 0; i < count; ++i) {
    NewArchiveEntry entry = read_tensor(cursor, name);
    if (entry.offset % alignment != 0) {
      fail_input(fmt::format("'{}' lies at {}, which is no multiple of the file's alignment {}",
                             name, entry.offset, alignment));
    }
    const std::uint64_t room = size - std::min(data, size);
    if (entry.offset > room || entry.length > room - entry.offset) {
      fail_input(
          fmt::format("'{}' has {} bytes at {} of {} bytes of data: the file was cut; fetch it "
                      "again",
                      name, entry.length, entry.offset, room));
    }
    entry.offset += data;
    entry.alignment = alignment;
    if (!index.add(entry)) return false;
  }
  return true;
}

}  // namespace

bool read_gguf(const SourceFile& file, ArchiveFiles&, ArchiveIndex& index) {
  Cursor cursor(file, 4);
  const auto version = cursor.number<std::uint32_t>();
  if (version != 2 && version != 3) {
    const bool swapped = version != 0 && (version & 0xFFFFU) == 0;
    fail_unsupported(
        swapped ? std::string("it is big-endian, which is not supported: convert it")
                : fmt::format("it is of version {}; 2 and 3 are supported: convert it", version));
  }
  const auto tensors = cursor.number<std::uint64_t>();
  const auto facts = cursor.number<std::uint64_t>();
  if (facts > cursor.left() / smallest_fact || tensors > cursor.left() / smallest_tensor) {
    fail_input(
        fmt::format("it promises {} facts and {} tensors, more than its {} bytes can hold: "
                    "fetch it again",
                    facts, tensors, file.size()));
  }
  const std::uint64_t alignment = read_facts(cursor, facts);
  // The data begin after the last description, so these are passed over first.
  const std::uint64_t descriptions = cursor.position();
  skip_tensors(cursor, tensors);
  const std::uint64_t data = (cursor.position() + alignment - 1) / alignment * alignment;
  cursor.seek(descriptions);
  return add_tensors(cursor, tensors, data, alignment, file.size(), index);
}

}  // namespace plimsoll::tensor
