// The tile of packed products: some rows of A by some panels of B in registers. Why it exists: it
// is where nearly all time of a model goes. May touch: table.h, finish.h.
//
// A row of A is given by pointers (one for each tap), so a convolution is the same loop as a matrix
// product. The sum of each element runs over taps, then depth, in one chain (or in blocks of
// block_depth, see there): results depend neither on the tile's size nor on how rows are grouped.
#pragma once

#include <cstdint>

#include "tensor/kernels/forms/finish.h"
#include "tensor/kernels/table.h"

namespace plimsoll::tensor::kernels {

/// Rows of B that are fetched ahead: B is read once for each tile and comes from the second-level
/// cache or memory. Measured on Sapphire Rapids: 4 % at 1024³, within noise from 8 to 16.
inline constexpr std::int64_t prefetch_rows = 8;

/// Where a product and its sum are rounded apart, every step adds two errors: sums of this many
/// products of one tap are made on their own and then added. Measured on mlsd_512x512_tiny: 1.0e-4
/// of the scale off with whole taps (64 channels), see tests/models.
inline constexpr std::int64_t block_depth = 16;

/// How B's elements become floats. start() is told the panel.
template <typename V, PanelType type>
struct PanelReader;

template <typename V>
struct PanelReader<V, PanelType::f32> {
  using Element = float;
  void start(const TileTask& /*task*/, std::int64_t /*panel*/) {}
  typename V::Float get(const float* p) const { return V::load(p); }
};
template <typename V>
struct PanelReader<V, PanelType::f16> {
  using Element = std::uint16_t;
  void start(const TileTask& /*task*/, std::int64_t /*panel*/) {}
  typename V::Float get(const std::uint16_t* p) const { return V::load_f16(p); }
};
template <typename V>
struct PanelReader<V, PanelType::bf16> {
  using Element = std::uint16_t;
  void start(const TileTask& /*task*/, std::int64_t /*panel*/) {}
  typename V::Float get(const std::uint16_t* p) const { return V::load_bf16(p); }
};
/// Weights of one byte are used as value − zero point, exactly; their scale is the epilogue's.
template <typename V>
struct BytePanelReader {
  void start(const TileTask& task, std::int64_t panel) {
    zero = V::zero();
    if (task.zero_points == nullptr) return;
    const std::int64_t column = panel * V::lanes;
    const std::int64_t left = task.columns - column;
    zero = V::load_part(task.zero_points + column, left < V::lanes ? left : V::lanes);
  }
  typename V::Float get(const std::int8_t* p) const { return V::load_i8(p) - zero; }
  typename V::Float get(const std::uint8_t* p) const { return V::load_u8(p) - zero; }
  typename V::Float zero;
};
template <typename V>
struct PanelReader<V, PanelType::i8> : BytePanelReader<V> {
  using Element = std::int8_t;
};
template <typename V>
struct PanelReader<V, PanelType::u8> : BytePanelReader<V> {
  using Element = std::uint8_t;
};

/// `rows` rows from the task's first, `panels` panels from `panel`.
template <typename V, PanelType type, int rows, int panels>
[[gnu::noinline]] void tile_of(const TileTask& task, std::int64_t panel) {
  using Reader = PanelReader<V, type>;
  using Element = typename Reader::Element;
  Reader readers[panels];
#pragma GCC unroll 8
  for (int p = 0; p < panels; ++p) readers[p].start(task, panel + p);
  // Panels lie one after the other.
  const std::int64_t panel_stride = task.taps * task.depth * V::lanes;
  const Element* b = static_cast<const Element*>(task.panels) + panel * panel_stride;
  const std::int64_t depth = task.depth;
  typename V::Float sums[rows][panels];
  typename V::Float totals[rows][panels];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int p = 0; p < panels; ++p) {
      sums[r][p] = V::zero();
      if constexpr (!V::fused_rounds_once) totals[r][p] = V::zero();
    }
  }
  const auto end_block = [&] {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
      for (int p = 0; p < panels; ++p) {
        totals[r][p] = totals[r][p] + sums[r][p];
        sums[r][p] = V::zero();
      }
    }
  };
  const float* const* pointers = task.rows;
  for (std::int64_t tap = 0; tap < task.taps; ++tap, pointers += task.count) {
    const float* a[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) a[r] = pointers[r] + depth;
    for (std::int64_t k = -depth; k < 0; ++k) {
      typename V::Float right[panels];
#pragma GCC unroll 8
      for (int p = 0; p < panels; ++p) {
        right[p] = readers[p].get(b + p * panel_stride);
        __builtin_prefetch(b + p * panel_stride + prefetch_rows * V::lanes);
      }
      b += V::lanes;
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const typename V::Float left = V::splat(a[r][k]);
#pragma GCC unroll 8
        for (int p = 0; p < panels; ++p) sums[r][p] = V::fused(left, right[p], sums[r][p]);
      }
      if constexpr (!V::fused_rounds_once) {
        if ((depth + k + 1) % block_depth == 0) end_block();
      }
    }
    if constexpr (!V::fused_rounds_once) {
      if (depth % block_depth != 0) end_block();
    }
  }
  FinishTask<V> rest;
  rest.first_column = panel * V::lanes;
  rest.columns = task.columns;
  rest.outputs = task.outputs;
  rest.residuals = task.residuals;
  rest.epilogue = &task.epilogue;
  if constexpr (V::fused_rounds_once) {
    finish_sums<V, rows, panels>(rest, sums);
  } else {
    finish_sums<V, rows, panels>(rest, totals);
  }
}

template <typename V, PanelType type, int rows>
void tile_rows(const TileTask& task) {
  std::int64_t panel = task.first_panel;
  // Few rows read more panels side by side, or the latency of their few sums is what limits them.
  if constexpr (rows <= 2) {
    for (; panel + 4 <= task.last_panel; panel += 4) tile_of<V, type, rows, 4>(task, panel);
  }
  for (; panel + 2 <= task.last_panel; panel += 2) tile_of<V, type, rows, 2>(task, panel);
  if (panel < task.last_panel) tile_of<V, type, rows, 1>(task, panel);
}

template <typename V, PanelType type, int rows = V::tile_rows>
void tile_count(const TileTask& task) {
  if constexpr (rows >= 1) {
    if (task.count == rows) {
      tile_rows<V, type, rows>(task);
    } else {
      tile_count<V, type, rows - 1>(task);
    }
  }
}

template <typename V>
void tile(const TileTask& task) {
  switch (task.type) {
    case PanelType::f32:
      return tile_count<V, PanelType::f32>(task);
    case PanelType::f16:
      return tile_count<V, PanelType::f16>(task);
    case PanelType::bf16:
      return tile_count<V, PanelType::bf16>(task);
    case PanelType::i8:
      return tile_count<V, PanelType::i8>(task);
    case PanelType::u8:
      return tile_count<V, PanelType::u8>(task);
  }
}

}  // namespace plimsoll::tensor::kernels
