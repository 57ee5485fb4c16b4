// A small window over a file. Why it exists: an index is read piece by piece in file order mostly;
// a hostile one jumps about, and must not cost a whole window for each jump. May touch:
// source_file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tensor/archive/source_file.h"

namespace plimsoll::tensor {

/// Not thread-safe. Spans live until the next call.
class FileWindow {
 public:
  static constexpr std::size_t capacity = std::size_t{64} << 10;

  explicit FileWindow(const SourceFile& file) : file_(&file) {}
  /// At most `capacity` bytes. Throws what SourceFile::read throws.
  [[nodiscard]] std::span<const std::byte> at(std::uint64_t offset, std::size_t length);

 private:
  const SourceFile* file_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(capacity);
  std::uint64_t begin_ = 0;
  std::size_t filled_ = 0;
};

/// A little-endian number at a position of bytes that hold it whole.
template <class Number>
[[nodiscard]] Number load_little(std::span<const std::byte> bytes, std::size_t position) {
  Number number{};
  std::memcpy(&number, bytes.subspan(position, sizeof(Number)).data(), sizeof(Number));
  return number;
}

}  // namespace plimsoll::tensor
