// The tile of integer products. Why it exists: see integer_product.h. May touch: integer_product.h,
// finish.h.
#pragma once

#include <cstdint>

#include "tensor/kernels/forms/finish.h"
#include "tensor/kernels/integer_product.h"

namespace plimsoll::tensor::kernels {

/// The top bits of four bytes.
inline constexpr std::int32_t top_bits = static_cast<std::int32_t>(0x80808080U);

/// The `count` (1 to 4) bytes at p as a lane; the rest is zero.
template <typename V>
std::int32_t byte_lane(const std::uint8_t* p, std::int64_t count) {
  std::int32_t lane = 0;
  if (count >= 4) {
    __builtin_memcpy(&lane, p, 4);
  } else {
    __builtin_memcpy(&lane, p, static_cast<std::size_t>(count));
  }
  return lane;
}

/// Raw sums Σ a'·b' of `rows` rows by `panels` panels, and Σ b' of each column in row `rows`, as
/// 32-bit numbers at `sums` ([rows + 1][panels · lanes]). a' and b' are the bytes as multiplied.
template <typename V, bool flip, int rows, int panels>
[[gnu::noinline]] void integer_sums(const IntegerTileTask& task, std::int64_t panel,
                                    std::int32_t* out) {
  using Int = typename V::Int;
  constexpr std::int64_t step = V::lanes * integer_depth_block;
  const std::int64_t blocks = (task.depth + integer_depth_block - 1) / integer_depth_block;
  const std::int64_t panel_stride = task.taps * blocks * step;
  const std::int8_t* b = task.panels + panel * panel_stride;
  const Int flipped = V::int_splat(top_bits);
  const Int ones = V::int_splat(0x01010101);
  Int sums[rows + 1][panels];
#pragma GCC unroll 16
  for (int r = 0; r <= rows; ++r) {
#pragma GCC unroll 8
    for (int p = 0; p < panels; ++p) sums[r][p] = V::int_zero();
  }
  const std::uint8_t* const* pointers = task.rows;
  for (std::int64_t tap = 0; tap < task.taps; ++tap, pointers += task.count) {
    const auto multiply = [&](std::int64_t k, const auto& lane) {
      Int right[panels];
#pragma GCC unroll 8
      for (int p = 0; p < panels; ++p) {
        right[p] = V::load_int(b + p * panel_stride);
        sums[rows][p] = V::dot(sums[rows][p], ones, right[p]);
      }
      b += step;
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        Int left = V::int_splat(lane(pointers[r] + k));
        if constexpr (flip) left = V::exclusive_or(left, flipped);
#pragma GCC unroll 8
        for (int p = 0; p < panels; ++p) sums[r][p] = V::dot(sums[r][p], left, right[p]);
      }
    };
    std::int64_t k = 0;
    for (; k + integer_depth_block <= task.depth; k += integer_depth_block) {
      multiply(k, [](const std::uint8_t* p) { return byte_lane<V>(p, integer_depth_block); });
    }
    if (k < task.depth) {
      // B is zero where the block reaches past the depth, so what is there in A does not matter.
      multiply(k, [&](const std::uint8_t* p) { return byte_lane<V>(p, task.depth - k); });
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r <= rows; ++r) {
#pragma GCC unroll 8
    for (int p = 0; p < panels; ++p) V::store_int(out + (r * panels + p) * V::lanes, sums[r][p]);
  }
}

/// Requantised bytes: clamped before rounding, since the sum may be far outside, and rounded to
/// even by adding 1.5·2^23.
template <typename V>
std::int32_t requantise(std::int32_t sum, float scale, std::int32_t zero, std::int32_t least,
                        std::int32_t most) {
  float x = static_cast<float>(sum) * scale;
  const auto low = static_cast<float>(least - zero);
  const auto high = static_cast<float>(most - zero);
  x = x > low ? x : low;
  x = x < high ? x : high;
  x = (x + 12582912.0F) - 12582912.0F;
  return static_cast<std::int32_t>(x) + zero;
}

/// Row r of the sums at `sums`, corrected and stored. `a_sum`: Σ a' of the row.
template <typename V>
[[gnu::noinline]] void integer_finish(const IntegerTileTask& task, std::int64_t first_column,
                                      std::int64_t count, std::int64_t row,
                                      const std::int32_t* column_sums, std::uint32_t a_sum,
                                      std::int32_t* sums) {
  // Modulo 2^32, as unsigned numbers.
  const auto a_zero = static_cast<std::uint32_t>(task.a_zero + (task.a_is_signed ? 128 : 0));
  const auto b_shift = static_cast<std::uint32_t>(task.b_was_unsigned ? -128 : 0);
  const auto total = static_cast<std::uint32_t>(task.taps * task.depth);
  const std::uint32_t a_rest = a_sum - total * a_zero;
  for (std::int64_t c = 0; c < count; ++c) {
    const std::int64_t column = first_column + c;
    const std::uint32_t b_zero =
        b_shift + (task.b_zeros == nullptr ? 0U : static_cast<std::uint32_t>(task.b_zeros[column]));
    const auto bias = static_cast<std::uint32_t>(task.bias == nullptr ? 0 : task.bias[column]);
    sums[c] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[c]) -
                                        a_zero * static_cast<std::uint32_t>(column_sums[c]) -
                                        b_zero * a_rest + bias);
  }
  const float* scale =
      task.epilogue.scale == nullptr ? nullptr : task.epilogue.scale + first_column;
  switch (task.output) {
    case IntegerOutput::i32: {
      std::int32_t* out = static_cast<std::int32_t*>(task.outputs[row]) + first_column;
      for (std::int64_t c = 0; c < count; ++c) out[c] = sums[c];
      return;
    }
    case IntegerOutput::u8: {
      std::uint8_t* out = static_cast<std::uint8_t*>(task.outputs[row]) + first_column;
      for (std::int64_t c = 0; c < count; ++c) {
        out[c] = static_cast<std::uint8_t>(
            requantise<V>(sums[c], scale == nullptr ? 1.0F : scale[c], task.output_zero, 0, 255));
      }
      return;
    }
    case IntegerOutput::i8: {
      std::int8_t* out = static_cast<std::int8_t*>(task.outputs[row]) + first_column;
      for (std::int64_t c = 0; c < count; ++c) {
        out[c] = static_cast<std::int8_t>(requantise<V>(sums[c], scale == nullptr ? 1.0F : scale[c],
                                                        task.output_zero, -128, 127));
      }
      return;
    }
    case IntegerOutput::f32: {
      alignas(64) float values[4 * V::lanes] = {};
      for (std::int64_t c = 0; c < count; ++c) values[c] = static_cast<float>(sums[c]);
      float* output = static_cast<float*>(task.outputs[row]);
      FinishTask<V> rest;
      rest.sums = values;
      rest.rows = 1;
      rest.panels = (count + V::lanes - 1) / V::lanes;
      rest.first_column = first_column;
      rest.columns = task.columns;
      rest.outputs = &output;
      rest.residuals = task.residuals == nullptr ? nullptr : task.residuals + row;
      rest.epilogue = &task.epilogue;
      finish<V>(rest);
      return;
    }
  }
}

template <typename V, bool flip, int rows, int panels>
void integer_tile_of(const IntegerTileTask& task, std::int64_t panel, const std::uint32_t* a_sums) {
  constexpr std::int64_t width = panels * V::lanes;
  alignas(64) std::int32_t sums[(rows + 1) * width];
  integer_sums<V, flip, rows, panels>(task, panel, sums);
  const std::int64_t first_column = panel * V::lanes;
  const std::int64_t left = task.columns - first_column;
  for (int r = 0; r < rows; ++r) {
    integer_finish<V>(task, first_column, left < width ? left : width, r, sums + rows * width,
                      a_sums[r], sums + r * width);
  }
}

template <typename V, bool flip, int rows>
void integer_tile_rows(const IntegerTileTask& task) {
  // Σ a' matters only where B has a zero point.
  std::uint32_t a_sums[rows] = {};
  if (task.b_zeros != nullptr || task.b_was_unsigned) {
    for (std::int64_t tap = 0; tap < task.taps; ++tap) {
      for (int r = 0; r < rows; ++r) {
        const std::uint8_t* a = task.rows[tap * task.count + r];
        std::uint32_t sum = 0;
        for (std::int64_t k = 0; k < task.depth; ++k) {
          sum += static_cast<std::uint32_t>(a[k] ^ (flip ? 0x80U : 0U));
        }
        a_sums[r] += sum;
      }
    }
  }
  std::int64_t panel = task.first_panel;
  if constexpr (rows == 1) {
    for (; panel + 4 <= task.last_panel; panel += 4) {
      integer_tile_of<V, flip, rows, 4>(task, panel, a_sums);
    }
  }
  for (; panel + 2 <= task.last_panel; panel += 2) {
    integer_tile_of<V, flip, rows, 2>(task, panel, a_sums);
  }
  if (panel < task.last_panel) integer_tile_of<V, flip, rows, 1>(task, panel, a_sums);
}

template <typename V, bool flip, int rows = V::tile_rows>
void integer_tile_count(const IntegerTileTask& task) {
  if constexpr (rows >= 1) {
    if (task.count == rows) {
      integer_tile_rows<V, flip, rows>(task);
    } else {
      integer_tile_count<V, flip, rows - 1>(task);
    }
  }
}

template <typename V>
void integer_tile(const IntegerTileTask& task) {
  if (task.a_is_signed) {
    integer_tile_count<V, true>(task);
  } else {
    integer_tile_count<V, false>(task);
  }
}

}  // namespace plimsoll::tensor::kernels
