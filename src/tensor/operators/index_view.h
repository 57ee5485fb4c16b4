// Indices as an operator reads them. Why it exists: they come as i32 or i64, may be negative, and
// are not to be trusted. May touch: tensor_view.h, error.h.
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "plimsoll/error.h"
#include "plimsoll/tensor_view.h"

namespace plimsoll::tensor {

/// Borrows an i32 or i64 tensor (inference has checked the type).
class IndexView {
 public:
  explicit IndexView(const ConstTensorView& view)
      : data_(view.data), count_(view.elements()), wide_(view.type == ElementType::i64) {}
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t operator[](std::int64_t position) const {
    return wide_ ? reinterpret_cast<const std::int64_t*>(data_)[position]
                 : reinterpret_cast<const std::int32_t*>(data_)[position];
  }
  /// The index at `position` in a dimension of `size`, counted from the end where negative. Only
  /// after `check`.
  [[nodiscard]] std::int64_t at(std::int64_t position, std::int64_t size) const {
    const std::int64_t index = (*this)[position];
    return index < 0 ? index + size : index;
  }
  /// Throws Error(bad_input) unless every index is within [−size, size).
  void check(std::int64_t size) const {
    for (std::int64_t position = 0; position < count_; ++position) {
      check_one((*this)[position], size);
    }
  }
  static void check_one(std::int64_t index, std::int64_t size) {
    if (index < -size || index >= size) {
      fail_input(fmt::format("index {} is outside of a dimension of {}", index, size));
    }
  }

 private:
  const std::byte* data_;
  std::int64_t count_;
  bool wide_;
};

}  // namespace plimsoll::tensor
