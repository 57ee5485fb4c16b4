// Depthwise convolution on channels-last images. Why it exists: each channel is a sum over the
// kernel's positions alone, so it is no product of matrices. May touch: product_node.h (the
// epilogue), image_window.h, kernels/table.h.
#pragma once

#include "tensor/plan/image_window.h"
#include "tensor/plan/product_node.h"

namespace plimsoll::tensor {

/// Taller kernels are left to the reference.
inline constexpr std::int64_t largest_depthwise_kernel = 32;

/// Inputs: 0 the image, 1 the weight, 2 the residual where the epilogue has one.
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
  void run_rows(const KernelContext& context, RowRange range) const override;
};

}  // namespace plimsoll::tensor
