// Matrix products and convolutions over packed weights. Why it exists: both are the same tile loop;
// a convolution only has more rows of factors. May touch: kernel_node.h, kernels/table.h.
//
// A convolution reads and writes channels-last images [N, H, W, C] and needs no im2col buffer: each
// output pixel has one pointer for each tap, padding points at zeros.
#pragma once

#include <memory>
#include <vector>

#include "tensor/kernels/table.h"
#include "tensor/plan/image_window.h"
#include "tensor/plan/kernel_node.h"

namespace plimsoll::tensor {

/// The owned form of kernels::Epilogue.
struct OwnedEpilogue {
  std::vector<float> scale;  ///< empty or one per column
  std::vector<float> shift;
  kernels::Activation activation = kernels::Activation::none;
  float low = 0;
  float high = 0;
  bool has_residual = false;
  bool residual_after_activation = false;

  [[nodiscard]] kernels::Epilogue view() const;
  /// y·factor + term for each column, where nothing but that came before. `count`: columns; the
  /// lists hold one value for all or one for each.
  void then_affine(std::span<const float> factor, std::span<const float> term, std::size_t count);
};

class TilePointers;

/// Inputs: 0 the factors, 1 the weight, 2 the residual where the epilogue has one.
struct ProductNode : KernelNode {
  kernels::Target target = kernels::Target::generic;
  OwnedEpilogue epilogue;
  std::int64_t depth = 0;    ///< input channels of a group, or the inner dimension of a product
  std::int64_t columns = 0;  ///< output channels, of all groups
  /// Where only a part of the columns is computed: floats from row to row of the result, and the
  /// part's place in them.
  std::int64_t result_stride = 0;  ///< 0: `columns`
  std::int64_t first_column = 0;
  std::int64_t groups = 1;  ///< of a convolution: products of their own, each of its own channels
  ElementType weight_element = ElementType::f32;  ///< as stored: f32, f16, bf16, i8 or u8
  std::vector<float>
      zero_points;  ///< of bytes: empty or one per column; the scale is the epilogue's
  bool convolution = false;
  /// A transposed convolution whose kernel is its stride and that has no padding: each tap is a
  /// product of its own, and every output pixel belongs to one tap.
  bool transposed = false;
  ImageWindow window;

  [[nodiscard]] Encoding encoding(std::size_t input, const WeightView& view) const override;
  [[nodiscard]] std::uint64_t scratch_bytes(int threads) const override;
  void run(const KernelContext& context) const override;
  [[nodiscard]] bool row_wise() const override { return convolution; }
  [[nodiscard]] std::int64_t columns_in(std::uint64_t bytes) const override;
  void run_columns(const KernelContext& context, std::int64_t first,
                   std::int64_t count) const override;
  /// A kernel's row counts as one tap: see tile_pointers.h.
  [[nodiscard]] bool takes_strips() const;
  /// Taps of one sum, and what each holds, as the tile sees them.
  [[nodiscard]] std::int64_t summed_taps() const;
  [[nodiscard]] std::int64_t summed_depth() const;
  /// Columns of one packed matrix.
  [[nodiscard]] std::int64_t matrix_columns() const { return columns / groups; }
  [[nodiscard]] bool image() const { return convolution; }
  [[nodiscard]] std::optional<RowRange> input_rows(std::size_t input,
                                                   RowRange output) const override;
  void run_rows(const KernelContext& context, RowRange output) const override;

 private:
  /// How the panels are cut: a group of them stays in a cache while rows go by.
  struct PanelGroups {
    std::int64_t panels = 0;
    std::int64_t group = 0;  ///< panels of one group
    std::int64_t count = 0;
    std::uint64_t matrix_bytes = 0;
  };
  [[nodiscard]] PanelGroups panel_groups(std::int64_t tiles, int threads) const;
  /// Rows of the product. `matrices`: packed ones, one after the other; several only where the
  /// groups, or the taps of a transposed convolution, are products of their own.
  void run_range(const KernelContext& context, RowRange range, RowRange matrices) const;
  void run_transposed_rows(const KernelContext& context, RowRange output) const;
  /// What the task has for each column becomes that of a group.
  void take_group(kernels::TileTask& task, std::int64_t group) const;
  /// Rows `range` of one matrix by the task's panels.
  void run_tiles(kernels::TileTask& task, RowRange range, std::int64_t matrix,
                 TilePointers& pointers) const;
  [[nodiscard]] std::uint64_t zeros_bytes() const;
};

}  // namespace plimsoll::tensor
