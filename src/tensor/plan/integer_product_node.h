// Products and convolutions of bytes with exact 32-bit sums. Why it exists: quantised models stay
// quantised in memory and in arithmetic. May touch: kernel_node.h, image_window.h,
// kernels/integer_product.h.
//
// The left factor is one matrix of rows, or a channels-last image whose output pixels are the rows.
// Padding stands for the left factor's zero point, so it adds nothing.
#pragma once

#include <vector>

#include "tensor/kernels/integer_product.h"
#include "tensor/kernels/target.h"
#include "tensor/plan/image_window.h"

namespace plimsoll::tensor {

/// Inputs: 0 the left factor, i8 or u8; 1 the weight, i8 or u8; 2 where there is one, the left
/// factor's zero point, one value, read at run time.
struct IntegerProductNode : KernelNode {
  kernels::Target target = kernels::Target::generic;
  std::int64_t depth = 0;    ///< input channels, or the inner dimension
  std::int64_t columns = 0;  ///< output channels
  bool convolution = false;
  ImageWindow window;
  bool left_is_signed = false;
  bool weight_is_signed = true;
  std::vector<std::int32_t> weight_zeros;  ///< empty (0) or one for each column
  std::vector<std::int32_t> bias;          ///< empty (0) or one for each column
  kernels::IntegerOutput result = kernels::IntegerOutput::i32;
  std::vector<float> scale;  ///< of the sums, for results of bytes: one for each column
  std::int32_t result_zero = 0;

  [[nodiscard]] Encoding encoding(std::size_t input, const WeightView& view) const override;
  [[nodiscard]] std::uint64_t scratch_bytes(int threads) const override;
  void run(const KernelContext& context) const override;

 private:
  struct Pointers;
  [[nodiscard]] std::uint64_t padding_bytes() const;
  [[nodiscard]] std::uint64_t pointer_bytes() const;  ///< of one thread
  /// The rows of a tile: output pixels start to start + count.
  void point(const KernelContext& context, std::int64_t start, std::int64_t count,
             const Pointers& pointers) const;
  void point_pixel(const KernelContext& context, std::int64_t pixel, std::int64_t row,
                   std::int64_t count, const Pointers& pointers) const;
};

}  // namespace plimsoll::tensor
