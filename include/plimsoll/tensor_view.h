// Tensors as borrowed memory. Why it exists: inputs are the caller's memory and are not copied, so
// every interface passes views. May touch: element_type.h, shape.h.
#pragma once

#include <cstddef>
#include <span>

#include "plimsoll/element_type.h"
#include "plimsoll/shape.h"

namespace plimsoll {

/// Read-only, contiguous, row-major. Does not own `data`; whoever hands it out says how long it
/// lives.
struct ConstTensorView {
  ElementType type = ElementType::undefined;
  Shape shape;
  const std::byte* data = nullptr;

  [[nodiscard]] std::int64_t elements() const noexcept { return shape.elements(); }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(shape.elements()) * element_size(type);
  }
  template <typename T>
  [[nodiscard]] const T* as() const noexcept {
    return reinterpret_cast<const T*>(data);
  }
  template <typename T>
  [[nodiscard]] std::span<const T> span() const noexcept {
    return {reinterpret_cast<const T*>(data), static_cast<std::size_t>(shape.elements())};
  }
};

/// The same, writable.
struct TensorView {
  ElementType type = ElementType::undefined;
  Shape shape;
  std::byte* data = nullptr;

  [[nodiscard]] std::int64_t elements() const noexcept { return shape.elements(); }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(shape.elements()) * element_size(type);
  }
  template <typename T>
  [[nodiscard]] T* as() const noexcept {
    return reinterpret_cast<T*>(data);
  }
  template <typename T>
  [[nodiscard]] std::span<T> span() const noexcept {
    return {reinterpret_cast<T*>(data), static_cast<std::size_t>(shape.elements())};
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a writable view is a readable one
  operator ConstTensorView() const noexcept { return {type, shape, data}; }
};

}  // namespace plimsoll
