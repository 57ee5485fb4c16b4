// The window of a two-dimensional convolution, and rows of channels-last images. Why it exists:
// products and depthwise convolutions share them. May touch:
// kernel_node.h, operators/spatial.h.
#pragma once

#include <cstdint>

#include "tensor/operators/spatial.h"
#include "tensor/plan/kernel_node.h"

namespace plimsoll::tensor {

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

/// The window of a standard convolution over two axes, or over one: then its image has one row.
[[nodiscard]] ImageWindow image_window(const SpatialWindow& spatial);

/// Row y of one batch item of a channels-last image of f32, wherever it is in a ring.
[[nodiscard]] inline float* image_row(const KernelOperand& image, std::int64_t n, std::int64_t y) {
  const Shape& shape = image.type.shape;
  const std::int64_t rows = image.ring_rows == 0 ? shape[1] : image.ring_rows;
  const std::int64_t at = image.ring_rows == 0 ? y : y % image.ring_rows;
  return reinterpret_cast<float*>(image.data) + (n * rows + at) * shape[2] * shape[3];
}

}  // namespace plimsoll::tensor
