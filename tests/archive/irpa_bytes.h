// IRPA files made byte by byte. Why it exists: the reader's tests need files that no writer would
// make. May touch: the standard library.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::tensor::test {

/// Appends a little-endian number.
template <class Number>
void append(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}
/// Overwrites a number at a position.
template <class Number>
void patch(std::string& bytes, std::size_t position, Number number) {
  std::memcpy(bytes.data() + position, &number, sizeof(number));
}

/// One header with its entries, metadata and storage, laid out as IREE's writer does.
class IrpaBytes {
 public:
  void splat(std::string_view name, std::uint64_t length, std::string pattern) {
    std::string tail;
    append(tail, length);
    const auto pattern_length = static_cast<std::uint8_t>(pattern.size());
    pattern.resize(16);
    tail += pattern;
    append(tail, pattern_length);
    entry(1, name, "", 0, tail);
  }
  void data(std::string_view name, std::string_view bytes, std::string_view metadata = "") {
    storage_.resize((storage_.size() + 63) / 64 * 64);
    std::string tail;
    append(tail, std::uint64_t{storage_.size()});
    append(tail, std::uint64_t{bytes.size()});
    storage_ += bytes;
    entry(2, name, metadata, 64, tail);
  }
  void external(std::string_view name, std::string_view path, std::uint64_t offset,
                std::uint64_t length) {
    std::string tail;
    append(tail, std::uint64_t{metadata_.size() + name.size()});
    append(tail, std::uint64_t{path.size()});
    append(tail, offset);
    append(tail, length);
    entry(3, name, "", 0, tail);
    metadata_ += path;
  }
  /// Appends an entry of any kind; `extra` bytes are claimed and added after it.
  void entry(std::uint32_t type, std::string_view name, std::string_view metadata,
             std::uint64_t alignment, const std::string& tail, std::size_t extra = 0) {
    entries_.resize((entries_.size() + 15) / 16 * 16);
    starts_.push_back(96 + entries_.size());
    append(entries_, std::uint64_t{60 + tail.size() + extra});
    append(entries_, type);
    append(entries_, std::uint64_t{0});
    append(entries_, std::uint64_t{metadata_.size()});
    append(entries_, std::uint64_t{name.size()});
    append(entries_, std::uint64_t{metadata_.size() + name.size()});
    append(entries_, std::uint64_t{metadata.size()});
    append(entries_, alignment);
    entries_ += tail;
    entries_.append(extra, '\0');
    metadata_ += name;
    metadata_ += metadata;
  }
  [[nodiscard]] std::string bytes(std::uint64_t next = 0) const {
    std::string file("IRPA");
    append(file, std::uint32_t{0});
    append(file, std::uint64_t{88});
    append(file, next);
    append(file, std::uint64_t{0});
    append(file, std::uint64_t{starts_.size()});
    append(file, std::uint64_t{96});
    append(file, std::uint64_t{entries_.size()});
    append(file, std::uint64_t{96 + entries_.size()});
    append(file, std::uint64_t{metadata_.size()});
    const std::size_t begin = (96 + entries_.size() + metadata_.size() + 63) / 64 * 64;
    append(file, std::uint64_t{begin});
    append(file, std::uint64_t{storage_.size()});
    file.resize(96);
    file += entries_;
    file += metadata_;
    file.resize(begin);
    file += storage_;
    return file;
  }
  /// Where entry `number` begins in bytes().
  [[nodiscard]] std::size_t start(std::size_t number) const { return starts_[number]; }

 private:
  std::string entries_;
  std::string metadata_;
  std::string storage_;
  std::vector<std::size_t> starts_;
};

}  // namespace plimsoll::tensor::test
