// Kernels over one row of floats: softmax, normalisation, sums of rows. Why it exists: what lies
// between products works along rows, and its exponentials and sums need vectors too. May touch:
// functions.h, table.h and the vector type V.
//
// Sums over a row are dealt to a fixed number of partial sums, which are joined in a fixed order:
// results depend on the number of lanes alone.
#pragma once

#include <cstdint>

#include "tensor/kernels/forms/functions.h"
#include "tensor/kernels/table.h"

namespace plimsoll::tensor::kernels {

/// The sum of the lanes, halves first.
template <typename V>
float sum_of_lanes(typename V::Float v) {
  float lane[V::lanes];
  V::store(lane, v);
  for (int width = V::lanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

template <typename V>
float largest_of_row(const float* x, std::int64_t count) {
  using Float = typename V::Float;
  float largest = x[0];
  std::int64_t i = 0;
  if (count >= V::lanes) {
    Float best = V::load(x);
    for (i = V::lanes; i + V::lanes <= count; i += V::lanes)
      best = V::maximum(V::load(x + i), best);
    float lane[V::lanes];
    V::store(lane, best);
    for (float each : lane) largest = each > largest ? each : largest;
  }
  for (; i < count; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

/// e^x, and 0 where that is below the normal range.
template <typename V>
typename V::Float exponential_or_zero(typename V::Float x) {
  return V::where_negative(x + V::splat(87.0F), V::zero(), exponential<V>(x));
}

template <typename V>
void softmax_row(const float* x, float* y, std::int64_t count) {
  using Float = typename V::Float;
  const Float largest = V::splat(largest_of_row<V>(x, count));
  Float sums = V::zero();
  std::int64_t i = 0;
  for (; i + V::lanes <= count; i += V::lanes) {
    const Float power = exponential_or_zero<V>(V::load(x + i) - largest);
    V::store(y + i, power);
    sums = sums + power;
  }
  float sum = sum_of_lanes<V>(sums);
  if (i < count) {
    V::store_part(y + i, exponential_or_zero<V>(V::load_part(x + i, count - i) - largest),
                  count - i);
    for (std::int64_t rest = i; rest < count; ++rest) sum += y[rest];
  }
  const Float scale = V::splat(1.0F / sum);
  for (i = 0; i + V::lanes <= count; i += V::lanes) V::store(y + i, V::load(y + i) * scale);
  if (i < count) V::store_part(y + i, V::load_part(y + i, count - i) * scale, count - i);
}

/// Σ (x − offset)^power over the row; the tail is added one by one.
template <typename V, bool squares>
float sum_of_row(const float* x, std::int64_t count, float offset) {
  using Float = typename V::Float;
  constexpr int parts = 4;
  const Float middle = V::splat(offset);
  Float sums[parts];
  for (Float& each : sums) each = V::zero();
  std::int64_t i = 0;
  for (; i + parts * V::lanes <= count; i += parts * V::lanes) {
    for (int p = 0; p < parts; ++p) {
      const Float value = V::load(x + i + p * V::lanes) - middle;
      sums[p] = squares ? V::fused(value, value, sums[p]) : sums[p] + value;
    }
  }
  for (; i + V::lanes <= count; i += V::lanes) {
    const Float value = V::load(x + i) - middle;
    sums[0] = squares ? V::fused(value, value, sums[0]) : sums[0] + value;
  }
  float sum = sum_of_lanes<V>((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < count; ++i) {
    const float value = x[i] - offset;
    sum += squares ? value * value : value;
  }
  return sum;
}

template <typename V>
void normalize_row(const NormalizeTask& task) {
  using Float = typename V::Float;
  const auto size = static_cast<float>(task.count);
  const float mean = sum_of_row<V, false>(task.input, task.count, 0.0F) / size;
  const float variance = sum_of_row<V, true>(task.input, task.count, mean) / size;
  const Float middle = V::splat(mean);
  const Float inverse = V::splat(1.0F / __builtin_sqrtf(variance + task.epsilon));
  const auto at = [&](const float* p, std::int64_t i, std::int64_t count) {
    return count == V::lanes ? V::load(p + i) : V::load_part(p + i, count);
  };
  for (std::int64_t i = 0; i < task.count; i += V::lanes) {
    const std::int64_t left = task.count - i;
    const std::int64_t count = left < V::lanes ? left : V::lanes;
    Float value = (at(task.input, i, count) - middle) * inverse;
    if (task.scale != nullptr) value = value * at(task.scale, i, count);
    if (task.shift != nullptr) value = value + at(task.shift, i, count);
    if (count == V::lanes) {
      V::store(task.output + i, value);
    } else {
      V::store_part(task.output + i, value, count);
    }
  }
}

template <typename V>
void add_rows(const float* rows, std::int64_t stride, std::int64_t count, std::int64_t columns,
              float* sums) {
  using Float = typename V::Float;
  for (std::int64_t c = 0; c < columns; c += V::lanes) {
    const std::int64_t left = columns - c;
    const bool whole = left >= V::lanes;
    const auto at = [&](const float* p) {
      return whole ? V::load(p + c) : V::load_part(p + c, left);
    };
    // Two chains, so that one addition need not wait for the one before.
    Float even = at(sums);
    Float odd = V::zero();
    std::int64_t r = 0;
    for (; r + 2 <= count; r += 2) {
      even = even + at(rows + r * stride);
      odd = odd + at(rows + (r + 1) * stride);
    }
    if (r < count) even = even + at(rows + r * stride);
    if (whole) {
      V::store(sums + c, even + odd);
    } else {
      V::store_part(sums + c, even + odd, left);
    }
  }
}

}  // namespace plimsoll::tensor::kernels
