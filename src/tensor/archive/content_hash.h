// A hash of an entry's contents, taken while it streams. Why it exists: damage on a disk or on the
// way is found by `archive verify`, not by wrong results. XXH3 is fast and no protection against
// intent. May touch: xxHash (in the .cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace plimsoll::tensor {

class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::tensor
