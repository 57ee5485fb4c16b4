// Mathematical functions that vectorise. Why it exists: the C library's exp and its kin are calls,
// one element at a time; these have no branches and no calls, so loops over them use the CPU's
// vectors. For f64 the C library is used. Inlined whatever their size: a loop with a call in it
// does not vectorise. May touch: the standard library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace plimsoll::tensor::vector_math {

/// Nearest integer, ties to even; keeps NaN, infinities and the sign of zero.
[[nodiscard, gnu::always_inline]] inline float round_even(float x) noexcept {
  // Adding 2^23 leaves no room for a fraction, so the addition itself rounds.
  const float magnitude = std::fabs(x);
  const float rounded = (magnitude + 0x1p23F) - 0x1p23F;
  return std::copysign(magnitude < 0x1p23F ? rounded : magnitude, x);
}
[[nodiscard, gnu::always_inline]] inline double round_even(double x) noexcept {
  const double magnitude = std::fabs(x);
  const double rounded = (magnitude + 0x1p52) - 0x1p52;
  return std::copysign(magnitude < 0x1p52 ? rounded : magnitude, x);
}

template <typename C>
[[nodiscard, gnu::always_inline]] inline C floor(C x) noexcept {
  const C nearest = round_even(x);
  return std::copysign(nearest > x ? nearest - C{1} : nearest, x);
}
template <typename C>
[[nodiscard, gnu::always_inline]] inline C ceil(C x) noexcept {
  const C nearest = round_even(x);
  return std::copysign(nearest < x ? nearest + C{1} : nearest, x);
}

/// e^x. Error below 2 units in the last place; 0 and infinity beyond the range; NaN stays NaN.
///
/// x = n·ln 2 + r with |r| ≤ ln 2 / 2 (Cody and Waite's two-part reduction), e^r by its Taylor
/// polynomial of degree 7 (remainder 5e-9), times 2^n in two factors so that results below the
/// normal range round once.
[[nodiscard, gnu::always_inline]] inline float exp(float x) noexcept {
  constexpr float shift = 0x1.8p23F;  // leaves the integer part in the low bits
  float clamped = -104.0F > x ? -104.0F : x;
  clamped = 89.0F < clamped ? 89.0F : clamped;
  const float shifted = clamped * 1.44269504F + shift;
  const float n = shifted - shift;
  const float r = (clamped - n * 0x1.62E4p-1F) - n * 0x1.7F7D1Cp-20F;
  float p = 1.98412698e-4F;
  p = p * r + 1.38888889e-3F;
  p = p * r + 8.33333333e-3F;
  p = p * r + 4.16666667e-2F;
  p = p * r + 1.66666667e-1F;
  p = p * r + 0.5F;
  p = p * (r * r) + r;
  p = p + 1.0F;
  // n as an integer, from the bits: a conversion would not be defined for NaN.
  const std::uint32_t whole = std::bit_cast<std::uint32_t>(shifted) - 0x4B400000U;
  const std::uint32_t half = static_cast<std::uint32_t>(static_cast<std::int32_t>(whole) >> 1);
  const float low = std::bit_cast<float>((half + 127U) << 23);
  const float high = std::bit_cast<float>((whole - half + 127U) << 23);
  return p * low * high;
}
[[nodiscard, gnu::always_inline]] inline double exp(double x) noexcept {
  return std::exp(x);
}

/// 1 / (1 + e^-x)
template <typename C>
[[nodiscard, gnu::always_inline]] inline C sigmoid(C x) noexcept {
  return C{1} / (C{1} + exp(-x));
}

/// tanh. Below 0.625 an odd polynomial (weighted least squares on Chebyshev points, error 4e-9
/// relative), above from e^2x, where no digits cancel.
[[nodiscard, gnu::always_inline]] inline float tanh(float x) noexcept {
  const float magnitude = std::fabs(x);
  const float t = magnitude * magnitude;
  float p = -5.717059132e-3F;
  p = p * t + 2.065060101e-2F;
  p = p * t - 5.374350399e-2F;
  p = p * t + 1.333149076e-1F;
  p = p * t - 3.333328366e-1F;
  const float small = magnitude + magnitude * t * p;
  const float large = 1.0F - 2.0F / (exp(magnitude + magnitude) + 1.0F);
  return std::copysign(magnitude < 0.625F ? small : large, x);
}
[[nodiscard, gnu::always_inline]] inline double tanh(double x) noexcept {
  return std::tanh(x);
}

/// The error function. Below 0.92 x times a polynomial of x² (error 2e-8 relative); above
/// 1 − e^−p(x) with p a polynomial for −ln erfc (error 2e-9); 1 from 4 on, where 1 − erf is below
/// half of the last place. Both polynomials: weighted least squares on Chebyshev points.
[[nodiscard, gnu::always_inline]] inline float erf(float x) noexcept {
  const float magnitude = std::fabs(x);
  const float t = magnitude * magnitude;
  float p = -5.991153885e-4F;
  p = p * t + 4.993251059e-3F;
  p = p * t - 2.676667646e-2F;
  p = p * t + 1.128181815e-1F;
  p = p * t - 3.761249483e-1F;
  p = p * t + 1.128379107F;
  const float small = magnitude * p;
  const float clamped = 4.0F < magnitude ? 4.0F : magnitude;
  float q = -1.971857419e-4F;
  q = q * clamped + 3.055643989e-3F;
  q = q * clamped - 2.227722295e-2F;
  q = q * clamped + 1.040376201e-1F;
  q = q * clamped + 6.370594501e-1F;
  q = q * clamped + 1.127749681F;
  q = q * clamped + 1.774607663e-4F;
  const float large = 1.0F - exp(-q);
  return std::copysign(magnitude < 0.92F ? small : large, x);
}
[[nodiscard, gnu::always_inline]] inline double erf(double x) noexcept {
  return std::erf(x);
}

}  // namespace plimsoll::tensor::vector_math
