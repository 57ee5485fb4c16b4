// What the arithmetic units can do at most. Why it exists: benchmarks measure kernels against it in
// the same run, since clocks change. May touch: the vector type V.
#pragma once

#include <cstdint>

namespace plimsoll::tensor::kernels {

/// `rounds` steps of as many independent sums as a tile has. Returns the floating-point operations
/// done, two for each multiplication with addition.
template <typename V>
[[gnu::noinline]] double fma_limit(std::int64_t rounds) {
  constexpr int count = 2 * V::tile_rows;
  volatile float seed = 1.0F;
  // Each sum starts elsewhere, or the compiler would keep only one of them.
  typename V::Float sums[count];
#pragma GCC unroll 32
  for (int s = 0; s < count; ++s) sums[s] = V::splat(seed + static_cast<float>(s));
  const typename V::Float factor = V::splat(seed * 0.999F);
  const typename V::Float term = V::splat(seed * 0.001F);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 32
    for (int s = 0; s < count; ++s) sums[s] = V::fused(sums[s], factor, term);
  }
  typename V::Float total = V::zero();
#pragma GCC unroll 32
  for (int s = 0; s < count; ++s) total = total + sums[s];
  alignas(64) float buffer[V::lanes];
  V::store(buffer, total);
  seed = buffer[0];
  return static_cast<double>(rounds) * count * V::lanes * 2;
}

}  // namespace plimsoll::tensor::kernels
