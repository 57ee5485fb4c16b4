#include "tensor/plan/image_window.h"

#include <algorithm>

namespace plimsoll::tensor {

RowRange ImageWindow::rows(RowRange output, std::int64_t height) const {
  const std::int64_t first = output.begin * stride_y - pad_top;
  const std::int64_t last =
      (output.end - 1) * stride_y - pad_top + (kernel_height - 1) * dilation_y + 1;
  return {std::clamp<std::int64_t>(first, 0, height), std::clamp<std::int64_t>(last, 0, height)};
}

}  // namespace plimsoll::tensor
