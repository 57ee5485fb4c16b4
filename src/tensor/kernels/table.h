// The kernels of one target, as functions. Why it exists: each form is compiled in a file of its
// own with its own instructions; everything else calls through this table. May touch: epilogue.h,
// integer_product.h, map.h, target.h.
#pragma once

#include <cstdint>

#include "tensor/kernels/epilogue.h"
#include "tensor/kernels/integer_product.h"
#include "tensor/kernels/map.h"
#include "tensor/kernels/target.h"

namespace plimsoll::tensor::kernels {

/// How a weight lies in its panels. Bytes stay bytes: see TileTask::zero_points.
enum class PanelType : std::uint8_t { f32, f16, bf16, i8, u8 };

/// Up to `max_rows` rows of the result times a range of panels. Row r's factors are, for each tap
/// t, the `depth` floats at rows[t·count + r].
struct TileTask {
  const float* const* rows = nullptr;
  std::int64_t count = 0;  ///< 1 to max_rows
  std::int64_t taps = 1;
  std::int64_t depth = 0;
  const void* panels = nullptr;  ///< the packed matrix; rows are taps × depth
  PanelType type = PanelType::f32;
  std::int64_t columns = 0;  ///< of the whole matrix
  std::int64_t first_panel = 0;
  std::int64_t last_panel = 0;              ///< not included
  float* const* outputs = nullptr;          ///< per row, column 0
  const float* const* residuals = nullptr;  ///< per row, column 0; null: none
  /// i8 and u8: subtracted from the weights, per column; null: 0. The scale is epilogue.scale.
  const float* zero_points = nullptr;
  Epilogue epilogue;
};

/// One output row of a depthwise convolution: `width` pixels of `channels`.
struct DepthwiseTask {
  /// Input rows by kernel row; null where the row is padding.
  const float* const* rows = nullptr;
  std::int64_t input_width = 0;
  std::int64_t input_stride = 0;  ///< floats from pixel to pixel
  std::int64_t kernel_height = 0;
  std::int64_t kernel_width = 0;
  std::int64_t stride = 1;         ///< along the width
  std::int64_t dilation = 1;       ///< along the width
  std::int64_t pad = 0;            ///< at the left
  const float* weights = nullptr;  ///< [taps][channels]
  std::int64_t channels = 0;
  float* output = nullptr;
  std::int64_t output_stride = 0;
  std::int64_t width = 0;
  const float* residual = nullptr;
  std::int64_t residual_stride = 0;
  Epilogue epilogue;
};

/// (x − mean)/√(variance + epsilon)·scale + shift over one row. The output may be the input.
struct NormalizeTask {
  const float* input = nullptr;
  float* output = nullptr;
  std::int64_t count = 0;        ///< at least 1
  const float* scale = nullptr;  ///< per element; null: 1
  const float* shift = nullptr;  ///< per element; null: 0
  float epsilon = 0;
};

using IntegerTile = void (*)(const IntegerTileTask&);

struct KernelTable {
  Target target = Target::generic;
  std::int64_t panel = 4;     ///< columns of a panel: one vector
  std::int64_t max_rows = 6;  ///< rows of a tile
  void (*tile)(const TileTask&) = nullptr;
  void (*depthwise_row)(const DepthwiseTask&) = nullptr;
  IntegerTile integer_tile = nullptr;
  /// e^(x − largest)/Σ over one row of at least 1 element; y may be x.
  void (*softmax_row)(const float* x, float* y, std::int64_t count) = nullptr;
  void (*normalize_row)(const NormalizeTask&) = nullptr;
  /// sums[c] += Σ rows[r·stride + c] over `count` rows.
  void (*add_rows)(const float* rows, std::int64_t stride, std::int64_t count, std::int64_t columns,
                   float* sums) = nullptr;
  /// output[c] = Σ weights[r]·rows[r][c], of at least one row. A row may be the output.
  void (*weighted_rows)(const float* const* rows, const float* weights, std::int64_t count,
                        std::int64_t columns, float* output) = nullptr;
  /// output[c] = the largest rows[r][c], of at least one row. A row may be the output.
  void (*largest_rows)(const float* const* rows, std::int64_t count, std::int64_t columns,
                       float* output) = nullptr;
  void (*map)(const MapTask&) = nullptr;
  /// For benchmarks: `rounds` of as many independent fused operations as a tile has. Returns the
  /// floating-point operations done.
  double (*fma_limit)(std::int64_t rounds) = nullptr;
};

/// The table of a target that this CPU supports.
[[nodiscard]] const KernelTable& kernel_table(Target target);
/// Columns of a panel for any target, for packing on another machine.
[[nodiscard]] std::int64_t panel_columns(Target target);

}  // namespace plimsoll::tensor::kernels
