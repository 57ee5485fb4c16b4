#include "plimsoll/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr std::int64_t largest_count = std::int64_t{1} << 62;

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> dimensions)
    : Shape(std::span<const std::int64_t>(dimensions.begin(), dimensions.size())) {}

Shape::Shape(std::span<const std::int64_t> dimensions) {
  if (dimensions.size() > max_rank) {
    fail_input(fmt::format("a tensor of rank {} is not supported: {} dimensions are the most",
                           dimensions.size(), max_rank));
  }
  rank_ = static_cast<std::uint8_t>(dimensions.size());
  std::copy(dimensions.begin(), dimensions.end(), dims_.begin());
  // A zero anywhere makes the product 0, but the other dimensions are multiplied elsewhere
  // (strides, partial products), so their product must fit as well.
  std::int64_t product = 1;
  for (std::int64_t dimension : dimensions) {
    if (dimension < 0) {
      fail_input(
          fmt::format("shape {} has a negative dimension: check where it comes from", to_string()));
    }
    if (dimension == 0) continue;
    if (product > largest_count / dimension) {
      fail_input(fmt::format("shape {} has more than 2^62 elements: check where it comes from",
                             to_string()));
    }
    product *= dimension;
  }
}

std::int64_t Shape::elements() const noexcept {
  return product(0, rank_);
}

std::int64_t Shape::product(std::size_t first, std::size_t last) const noexcept {
  std::int64_t result = 1;
  for (std::size_t axis = first; axis < last; ++axis) result *= dims_[axis];
  return result;
}

std::string Shape::to_string() const {
  if (rank_ == 0) return "scalar";
  return fmt::format("{}", fmt::join(dims_.begin(), dims_.begin() + rank_, "x"));
}

bool operator==(const Shape& a, const Shape& b) noexcept {
  return std::ranges::equal(a.dimensions(), b.dimensions());
}

std::uint64_t checked_bytes(const Shape& shape, std::size_t element_bytes, const char* what) {
  const auto count = static_cast<std::uint64_t>(shape.elements());
  if (element_bytes != 0 && count > (std::uint64_t{1} << 62) / element_bytes) {
    fail_input(fmt::format(
        "{}: shape {} of {}-byte elements exceeds 2^62 bytes: check where it comes from", what,
        shape.to_string(), element_bytes));
  }
  return count * element_bytes;
}

}  // namespace plimsoll
