// Random networks of image operators, as ONNX models. Why they exist: strips, plans and layouts
// must be right for any mixture of windows, strides, branches and batches, not for a few models.
// May touch: support/.
#pragma once

#include <cstdint>
#include <string>

namespace plimsoll::tensor::test {

/// The bytes of a model with input "x" of shape batch × 4 × height × width (f32) and one or more
/// outputs "y0", "y1" …. The same seed gives the same model.
struct ImageNetwork {
  std::uint32_t seed = 1;
  int nodes = 12;
  std::int64_t batch = 1;
  std::int64_t height = 33;
  std::int64_t width = 29;
  std::int64_t most_channels = 24;
};
[[nodiscard]] std::string image_network(const ImageNetwork& network);

}  // namespace plimsoll::tensor::test
