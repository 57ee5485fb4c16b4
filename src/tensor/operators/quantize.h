// From a real number to the integer that stands for it. Why it exists: QuantizeLinear and the
// products with quantised results must round alike. May touch: vector_math.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensor/operators/vector_math.h"

namespace plimsoll::tensor {

/// saturate(round(value) + zero_point) for types of up to 16 bits; ties to even; NaN gives the
/// smallest value. No branches, so loops over it vectorise.
template <typename Q>
[[nodiscard]] inline Q quantized(float value, float zero_point) noexcept {
  static_assert(sizeof(Q) <= 2, "the sum must be exact in f32");
  constexpr auto lowest = static_cast<float>(std::numeric_limits<Q>::min());
  constexpr auto highest = static_cast<float>(std::numeric_limits<Q>::max());
  float sum = vector_math::round_even(value) + zero_point;
  sum = sum > lowest ? sum : lowest;
  sum = sum < highest ? sum : highest;
  return static_cast<Q>(static_cast<std::int32_t>(sum));
}

}  // namespace plimsoll::tensor
