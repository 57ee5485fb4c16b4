// Matrix products and convolutions over packed weights. Why it exists: both are the same tile loop;
// a convolution only has more rows of factors. May touch: kernel_node.h, kernels/table.h.
//
// A convolution reads and writes channels-last images [N, H, W, C] and needs no im2col buffer: each
// output pixel has one pointer for each tap, padding points at zeros.
#pragma once

#include <memory>
#include <vector>

#include "tensor/kernels/table.h"
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

/// Window of a two-dimensional convolution.
struct ImageWindow {
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride_y = 1;
  std::int64_t stride_x = 1;
  std::int64_t dilation_y = 1;
  std::int64_t dilation_x = 1;
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;

  [[nodiscard]] std::int64_t taps() const { return kernel_height * kernel_width; }
  /// Input rows that output rows need, clipped to [0, height).
  [[nodiscard]] RowRange rows(RowRange output, std::int64_t height) const;
};

/// Inputs: 0 the factors, 1 the weight, 2 the residual where the epilogue has one.
struct ProductNode : KernelNode {
  kernels::Target target = kernels::Target::generic;
  OwnedEpilogue epilogue;
  std::int64_t depth = 0;                         ///< channels, or the inner dimension of a product
  std::int64_t columns = 0;                       ///< output channels
  ElementType weight_element = ElementType::f32;  ///< as stored: f32, f16 or bf16
  bool convolution = false;
  /// A transposed convolution whose kernel is its stride and that has no padding: each tap is a
  /// product of its own, and every output pixel belongs to one tap.
  bool transposed = false;
  ImageWindow window;

  [[nodiscard]] Encoding encoding(std::size_t input, const WeightView& view) const override;
  [[nodiscard]] std::uint64_t scratch_bytes(int threads) const override;
  void run(const KernelContext& context) const override;
  [[nodiscard]] bool row_wise() const override { return convolution; }
  /// Taps of one sum.
  [[nodiscard]] std::int64_t summed_taps() const { return transposed ? 1 : window.taps(); }
  [[nodiscard]] bool image() const { return convolution; }
  [[nodiscard]] std::optional<RowRange> input_rows(std::size_t input,
                                                   RowRange output) const override;
  void run_rows(const KernelContext& context, RowRange output) const override;

 private:
  /// Pointers for output rows (pixels) start to start + count.
  void point(const KernelContext& context, std::int64_t tap, std::int64_t start, std::int64_t count,
             const float* zeros, const float** rows, float** outputs,
             const float** residuals) const;
  void run_transposed_rows(const KernelContext& context, RowRange output) const;
  void run_range(const KernelContext& context, std::int64_t begin, std::int64_t end,
                 std::int64_t tap) const;
  [[nodiscard]] std::uint64_t thread_scratch() const;
};

/// Taller kernels are left to the reference.
inline constexpr std::int64_t largest_depthwise_kernel = 32;

/// Depthwise convolution on channels-last images. Inputs as above.
struct DepthwiseNode : KernelNode {
  kernels::Target target = kernels::Target::generic;
  OwnedEpilogue epilogue;
  std::int64_t channels = 0;
  ImageWindow window;

  [[nodiscard]] Encoding encoding(std::size_t input, const WeightView& view) const override;
  [[nodiscard]] std::uint64_t scratch_bytes(int threads) const override;
  void run(const KernelContext& context) const override;
  [[nodiscard]] bool row_wise() const override { return true; }
  [[nodiscard]] std::optional<RowRange> input_rows(std::size_t input,
                                                   RowRange output) const override;
  void run_rows(const KernelContext& context, RowRange output) const override;
};

}  // namespace plimsoll::tensor
