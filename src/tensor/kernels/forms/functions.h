// Activations over a vector type. Why it exists: an epilogue applies them while the sums are in
// registers. May touch: epilogue.h and the vector type V.
#pragma once

#include "tensor/kernels/epilogue.h"

namespace plimsoll::tensor::kernels {

/// e^x: range reduction by ln 2 in two parts, a polynomial of degree 6 (Cephes' expf coefficients),
/// 2 ulp where the result is normal; outside, the result of the nearest such x. NaN stays NaN.
template <typename V>
typename V::Float exponential(typename V::Float x) {
  using Float = typename V::Float;
  x = V::minimum(V::splat(88.0F), V::maximum(V::splat(-87.0F), x));
  // Adding 1.5·2^23 leaves the nearest whole number in the low bits.
  const Float rounder = V::splat(12582912.0F);
  const Float n = V::fused(x, V::splat(1.44269504088896341F), rounder) - rounder;
  const Float r = V::fused(n, V::splat(2.12194440e-4F), V::fused(n, V::splat(-0.693359375F), x));
  Float p = V::splat(1.9875691500e-4F);
  p = V::fused(p, r, V::splat(1.3981999507e-3F));
  p = V::fused(p, r, V::splat(8.3334519073e-3F));
  p = V::fused(p, r, V::splat(4.1665795894e-2F));
  p = V::fused(p, r, V::splat(1.6666665459e-1F));
  p = V::fused(p, r, V::splat(5.0000001201e-1F));
  p = V::fused(p, r * r, r) + V::splat(1.0F);
  return p * V::power_of_two(n);
}

template <typename V>
typename V::Float sigmoid(typename V::Float x) {
  const typename V::Float one = V::splat(1.0F);
  return one / (one + exponential<V>(V::zero() - x));
}

/// erf by Abramowitz and Stegun 7.1.26, absolute error 1.5e-7.
template <typename V>
typename V::Float error_function(typename V::Float x) {
  using Float = typename V::Float;
  const Float one = V::splat(1.0F);
  const Float magnitude = V::maximum(V::zero() - x, x);
  const Float t = one / V::fused(V::splat(0.3275911F), magnitude, one);
  Float p = V::splat(1.061405429F);
  p = V::fused(p, t, V::splat(-1.453152027F));
  p = V::fused(p, t, V::splat(1.421413741F));
  p = V::fused(p, t, V::splat(-0.284496736F));
  p = V::fused(p, t, V::splat(0.254829592F));
  const Float result = one - p * t * exponential<V>(V::zero() - magnitude * magnitude);
  return V::where_negative(x, V::zero() - result, result);
}

/// Bounds are the first operand of minimum and maximum, so that NaN stays NaN.
template <typename V, Activation activation>
typename V::Float activate(typename V::Float x, float low, float high) {
  using Float = typename V::Float;
  if constexpr (activation == Activation::clip) {
    return V::minimum(V::splat(high), V::maximum(V::splat(low), x));
  } else if constexpr (activation == Activation::leaky_relu) {
    return V::where_negative(x, x * V::splat(low), x);
  } else if constexpr (activation == Activation::hard_sigmoid) {
    const Float line = V::fused(x, V::splat(low), V::splat(high));
    return V::minimum(V::splat(1.0F), V::maximum(V::zero(), line));
  } else if constexpr (activation == Activation::hard_swish) {
    const Float gate = V::minimum(V::splat(6.0F), V::maximum(V::zero(), x + V::splat(3.0F)));
    return V::fused(x * gate, V::splat(low), V::splat(high));
  } else if constexpr (activation == Activation::sigmoid) {
    return sigmoid<V>(x);
  } else if constexpr (activation == Activation::silu) {
    return x * sigmoid<V>(x);
  } else if constexpr (activation == Activation::tanh) {
    return V::fused(V::splat(2.0F), sigmoid<V>(x + x), V::splat(-1.0F));
  } else if constexpr (activation == Activation::gelu) {
    const Float half = V::splat(0.5F) * x;
    return V::fused(half, error_function<V>(x * V::splat(0.70710678118654752F)), half);
  } else {
    return x;
  }
}

}  // namespace plimsoll::tensor::kernels
