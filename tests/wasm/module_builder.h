// Writes modules byte by byte. Why it exists: what is hostile cannot be written in the text format.
// May touch: the standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::wasm::test {

/// Bytes that grow.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::initializer_list<int> bytes) {
    for (const int byte : bytes) add(byte);
  }
  Bytes& add(int byte) {
    bytes_.push_back(static_cast<std::byte>(byte));
    return *this;
  }
  Bytes& add(const Bytes& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
  /// LEB128, padded with empty groups to `length` bytes where that is more.
  Bytes& u32(std::uint64_t value, std::size_t length = 1) {
    std::size_t written = 0;
    do {
      const bool more = value >= 0x80 || written + 1 < length;
      add(static_cast<int>((value & 0x7FU) | (more ? 0x80U : 0U)));
      value >>= 7U;
      ++written;
    } while (value != 0 || written < length);
    return *this;
  }
  Bytes& name(std::string_view text) {
    u32(text.size());
    for (const char letter : text) add(static_cast<unsigned char>(letter));
    return *this;
  }
  Bytes& repeat(std::size_t count, int byte) {
    bytes_.insert(bytes_.end(), count, static_cast<std::byte>(byte));
    return *this;
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::vector<std::byte>& get() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// A module of sections as given.
class ModuleBuilder {
 public:
  ModuleBuilder() { bytes_ = {0, 'a', 's', 'm', 1, 0, 0, 0}; }
  ModuleBuilder& section(int id, const Bytes& contents) {
    bytes_.add(id).u32(contents.size()).add(contents);
    return *this;
  }
  /// One type () -> () and one function with this body (local groups included, `end` not added).
  ModuleBuilder& with_body(const Bytes& body) {
    section(1, {1, 0x60, 0, 0});
    section(3, {1, 0});
    Bytes code{1};
    code.u32(body.size()).add(body);
    return section(10, code);
  }
  [[nodiscard]] const std::vector<std::byte>& get() const { return bytes_.get(); }

 private:
  Bytes bytes_;
};

}  // namespace plimsoll::wasm::test
