// Elements as the type that arithmetic happens in. Why it exists: half-precision elements are
// computed in f32, f64 stays f64. May touch: half.h.
#pragma once

#include <type_traits>

#include "tensor/graph/half.h"

namespace plimsoll::tensor {

template <typename T>
using Arithmetic = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T>
[[nodiscard]] Arithmetic<T> widen(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<Arithmetic<T>>(value);
  } else {
    return to_float(value);
  }
}

template <typename T>
[[nodiscard]] T narrow(Arithmetic<T> value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(value);
  } else {
    return to_bfloat16(value);
  }
}

}  // namespace plimsoll::tensor
