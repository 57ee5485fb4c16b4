// 16-bit floats to and from f32 and f64. Why it exists: operators compute in f32 and every reader,
// writer and kernel must round the same way. May touch: element_type.h, <bit>.
//
// All values are exact: widening is lossless (a signalling NaN becomes quiet, as the CPU's own
// instructions do it); narrowing rounds to nearest, ties to even, overflows to infinity and keeps
// the top of a NaN's payload. The code has no branches, so loops over it vectorise.
//
//   f16    s eeeee mmmmmmmmmm              bias 15
//   bf16   s eeeeeeee mmmmmmm              the upper half of an f32
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "plimsoll/element_type.h"

namespace plimsoll::tensor {

namespace detail {
/// By masks: the compiler would branch around the floating addition that one side may need.
[[nodiscard]] inline std::uint32_t choose(bool condition, std::uint32_t yes,
                                          std::uint32_t no) noexcept {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}
}  // namespace detail

[[nodiscard, gnu::always_inline]] inline float to_float(const Float16& half) noexcept {
  const std::uint32_t magnitude = half.bits & 0x7FFFU;
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000U) << 16;
  // Read with f32's exponent bias the number is 2^112 too small; the product is exact, for
  // subnormals too.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(scaled);
  bits |= magnitude >= 0x7C00U ? 0x7F800000U : 0U;
  bits |= magnitude > 0x7C00U ? 0x00400000U : 0U;
  return std::bit_cast<float>(bits | sign);
}

[[nodiscard, gnu::always_inline]] inline Float16 to_float16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  // Normal: rebias the exponent, add half of the last place (less one where that place is even).
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xFFFU + odd) >> 13;
  // Subnormal: one unit of f16 is 2^-24, which is the last place of 0.5 in f32, so adding 0.5 lets
  // the addition round.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U;
  const std::uint32_t nan = 0x7E00U | ((magnitude >> 13) & 0x3FFU);
  std::uint32_t result = detail::choose(magnitude < 0x38800000U, subnormal, normal);  // < 2^-14
  result = detail::choose(magnitude >= 0x477FF000U, 0x7C00U, result);                 // ≥ 65520
  result = detail::choose(magnitude > 0x7F800000U, nan, result);
  return {static_cast<std::uint16_t>(result | ((bits >> 16) & 0x8000U))};
}

[[nodiscard, gnu::always_inline]] inline float to_float(const BFloat16& half) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half.bits) << 16);
}

[[nodiscard, gnu::always_inline]] inline BFloat16 to_bfloat16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t nan = (bits >> 16) | 0x40U;
  const std::uint32_t result = (bits & 0x7FFFFFFFU) > 0x7F800000U ? nan : rounded;
  return {static_cast<std::uint16_t>(result)};
}

/// f64 to f32 for a second rounding to fewer bits: an inexact result has its last bit set, so that
/// rounding twice gives what rounding once would ("round to odd", Boldo and Melquiond 2008).
[[nodiscard]] inline float round_to_odd(double value) noexcept {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) bits -= 1;
  return std::bit_cast<float>(bits | 1U);
}
[[nodiscard]] inline Float16 to_float16(double value) noexcept {
  return to_float16(round_to_odd(value));
}
[[nodiscard]] inline BFloat16 to_bfloat16(double value) noexcept {
  return to_bfloat16(round_to_odd(value));
}

}  // namespace plimsoll::tensor
