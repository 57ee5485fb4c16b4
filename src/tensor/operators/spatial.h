// Windows over spatial dimensions: kernel, strides, dilations, padding. Why it exists: convolutions
// and poolings share the standard's rules for them (Operators.md: Conv, MaxPool). May touch:
// operator.h, checks.h.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

struct SpatialWindow {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads_begin;
  std::vector<std::int64_t> pads_end;
  std::vector<std::int64_t> input;
  std::vector<std::int64_t> output;

  [[nodiscard]] std::size_t dimensions() const { return kernel.size(); }
  [[nodiscard]] std::int64_t taps() const;
  [[nodiscard]] std::int64_t output_positions() const;
  [[nodiscard]] std::int64_t input_positions() const;
};

/// Reads strides, dilations, pads and auto_pad for an input of shape N×C×spatial and the given
/// kernel. ceil_mode as for poolings. Throws Error(bad_input).
[[nodiscard]] SpatialWindow spatial_window(const Node& node, const Shape& input,
                                           std::span<const std::int64_t> kernel,
                                           bool ceil_mode = false);
/// The same for a transposed convolution: output_shape and output_padding too.
[[nodiscard]] SpatialWindow transposed_window(const Node& node, const Shape& input,
                                              std::span<const std::int64_t> kernel);

/// Calls body(input position, tap) for each tap of one output position that lies inside the input.
template <typename F>
void for_each_tap(const SpatialWindow& window, std::int64_t output_position, const F& body) {
  const std::size_t rank = window.dimensions();
  std::int64_t origin[8];
  std::int64_t rest = output_position;
  for (std::size_t axis = rank; axis-- > 0;) {
    origin[axis] = rest % window.output[axis] * window.strides[axis] - window.pads_begin[axis];
    rest /= window.output[axis];
  }
  const std::int64_t taps = window.taps();
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    std::int64_t position = 0;
    std::int64_t tap_rest = tap;
    std::int64_t scale = 1;
    bool inside = true;
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::int64_t at =
          origin[axis] + tap_rest % window.kernel[axis] * window.dilations[axis];
      tap_rest /= window.kernel[axis];
      if (at < 0 || at >= window.input[axis]) {
        inside = false;
        break;
      }
      position += at * scale;
      scale *= window.input[axis];
    }
    if (inside) body(position, tap);
  }
}

}  // namespace plimsoll::tensor
