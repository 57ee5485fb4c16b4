// A tensor's dimensions. Why it exists: shapes are everywhere and small, so they live inline, and
// their products are checked once, here. May touch: the standard library, error.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace plimsoll {

/// Up to 8 non-negative dimensions, all known. Row-major: the last dimension is contiguous.
class Shape {
 public:
  static constexpr std::size_t max_rank = 8;

  Shape() = default;  ///< rank 0: a scalar, one element
  Shape(std::initializer_list<std::int64_t> dimensions);
  /// Throws Error(bad_input) for more than 8 dimensions, a negative one, or a product of elements
  /// that does not fit in 2^62.
  explicit Shape(std::span<const std::int64_t> dimensions);

  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const noexcept { return dims_[axis]; }
  [[nodiscard]] std::span<const std::int64_t> dimensions() const noexcept {
    return {dims_.data(), rank_};
  }
  [[nodiscard]] std::int64_t back() const noexcept { return dims_[rank_ - 1]; }
  /// Product of all dimensions; 1 for a scalar. Never overflows: the constructor checked it.
  [[nodiscard]] std::int64_t elements() const noexcept;
  /// Product of dimensions [first, last).
  [[nodiscard]] std::int64_t product(std::size_t first, std::size_t last) const noexcept;
  /// "1x3x640x640"; "scalar" for rank 0.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept;

 private:
  std::array<std::int64_t, max_rank> dims_{};
  std::uint8_t rank_ = 0;
};

/// elements × element size, checked: throws Error(bad_input) naming `what` when it exceeds 2^62.
[[nodiscard]] std::uint64_t checked_bytes(const Shape& shape, std::size_t element_bytes,
                                          const char* what);

}  // namespace plimsoll
