// Kernels over the channels of a few pixels: their weighted sum, and their largest elements. Why it
// exists: pooling and resizing combine pixels of channels-last images. May touch: the vector type
// V.
#pragma once

#include <cstdint>

namespace plimsoll::tensor::kernels {

/// Calls body(column, load, store) for vectors of columns; those two deal with a partial vector.
template <typename V, typename Body>
void for_each_column(std::int64_t columns, const Body& body) {
  using Float = typename V::Float;
  std::int64_t c = 0;
  for (; c + V::lanes <= columns; c += V::lanes) {
    body([c](const float* p) { return V::load(p + c); },
         [c](float* p, Float v) { V::store(p + c, v); });
  }
  if (const std::int64_t left = columns - c; left > 0) {
    body([c, left](const float* p) { return V::load_part(p + c, left); },
         [c, left](float* p, Float v) { V::store_part(p + c, v, left); });
  }
}

template <typename V>
void weighted_rows(const float* const* rows, const float* weights, std::int64_t count,
                   std::int64_t columns, float* output) {
  using Float = typename V::Float;
  for_each_column<V>(columns, [&](const auto& load, const auto& store) {
    Float sum = V::splat(weights[0]) * load(rows[0]);
    for (std::int64_t r = 1; r < count; ++r)
      sum = V::fused(V::splat(weights[r]), load(rows[r]), sum);
    store(output, sum);
  });
}

template <typename V>
void largest_rows(const float* const* rows, std::int64_t count, std::int64_t columns,
                  float* output) {
  using Float = typename V::Float;
  for_each_column<V>(columns, [&](const auto& load, const auto& store) {
    Float largest = load(rows[0]);
    // In this order a NaN, once there, stays.
    for (std::int64_t r = 1; r < count; ++r) largest = V::maximum(load(rows[r]), largest);
    store(output, largest);
  });
}

}  // namespace plimsoll::tensor::kernels
