#include "tensor/plan/image_window.h"

#include <algorithm>

namespace plimsoll::tensor {

ImageWindow image_window(const SpatialWindow& spatial) {
  const std::size_t x = spatial.dimensions() - 1;
  ImageWindow window;
  window.kernel_width = spatial.kernel[x];
  window.stride_x = spatial.strides[x];
  window.dilation_x = spatial.dilations[x];
  window.pad_left = spatial.pads_begin[x];
  if (x == 0) return window;
  window.kernel_height = spatial.kernel[0];
  window.stride_y = spatial.strides[0];
  window.dilation_y = spatial.dilations[0];
  window.pad_top = spatial.pads_begin[0];
  return window;
}

RowRange ImageWindow::rows(RowRange output, std::int64_t height) const {
  const std::int64_t first = output.begin * stride_y - pad_top;
  const std::int64_t last =
      (output.end - 1) * stride_y - pad_top + (kernel_height - 1) * dilation_y + 1;
  return {std::clamp<std::int64_t>(first, 0, height), std::clamp<std::int64_t>(last, 0, height)};
}

}  // namespace plimsoll::tensor
