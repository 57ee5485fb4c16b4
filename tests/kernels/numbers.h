// Numbers for kernel tests. Why it exists: sums of small whole numbers are exact in any order, so
// results are compared bit by bit. May touch: graph/half.h.
#pragma once

#include <cstdint>
#include <vector>

namespace plimsoll::tensor::kernels::test {

/// A small generator, the same on every machine (Numerical Recipes' linear congruence).
class Numbers {
 public:
  explicit Numbers(std::uint32_t seed) : state_(seed) {}
  std::uint32_t next() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8U;
  }
  /// From low to high, both included.
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint32_t>(high - low + 1));
  }
  /// In [-1, 1), with all bits of the fraction in use.
  float real() { return static_cast<float>(next()) / 8388608.0F - 1.0F; }

  std::vector<float> wholes(std::int64_t count, std::int64_t low = -4, std::int64_t high = 4) {
    std::vector<float> list(static_cast<std::size_t>(count));
    for (float& x : list) x = static_cast<float>(whole(low, high));
    return list;
  }
  std::vector<float> reals(std::int64_t count) {
    std::vector<float> list(static_cast<std::size_t>(count));
    for (float& x : list) x = real();
    return list;
  }

 private:
  std::uint32_t state_;
};

}  // namespace plimsoll::tensor::kernels::test
