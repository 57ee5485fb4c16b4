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
  [[nodiscard]] std::int64_t output_columns() const { return output.back(); }
  [[nodiscard]] std::int64_t output_rows() const;  ///< of all axes but the last
};

/// Reads strides, dilations, pads and auto_pad for an input of shape N×C×spatial and the given
/// kernel, one axis at least. ceil_mode as for poolings. Throws Error(bad_input).
[[nodiscard]] SpatialWindow spatial_window(const Node& node, const Shape& input,
                                           std::span<const std::int64_t> kernel,
                                           bool ceil_mode = false);
/// The same for a transposed convolution: output_shape and output_padding too.
[[nodiscard]] SpatialWindow transposed_window(const Node& node, const Shape& input,
                                              std::span<const std::int64_t> kernel);

// Loops run along rows: the last axis is contiguous, so the innermost loop goes over its positions
// for one tap, which vectorises, and what lies in the padding is cut off before it.

/// Positions [begin, end) of the last axis.
struct ColumnRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Output columns within [first, last) for which tap `tap` of the last axis reads inside the input:
/// column x reads x · stride + tap_shift(window, tap).
[[nodiscard]] ColumnRange inside_columns(const SpatialWindow& window, std::int64_t tap,
                                         std::int64_t first, std::int64_t last);
[[nodiscard]] inline std::int64_t tap_shift(const SpatialWindow& window, std::int64_t tap) {
  return tap * window.dilations.back() - window.pads_begin.back();
}

/// Of a transposed convolution: input columns whose output for tap `tap`, which is column
/// i · stride + tap_shift(window, tap), is within [first, last).
[[nodiscard]] ColumnRange transposed_columns(const SpatialWindow& window, std::int64_t tap,
                                             std::int64_t first, std::int64_t last);

namespace detail {

/// The input's index along an axis that a tap of an output's index reads; negative: none.
[[nodiscard]] inline std::int64_t read_index(const SpatialWindow& window, std::size_t axis,
                                             std::int64_t output, std::int64_t tap,
                                             bool transposed) {
  const std::int64_t stride = window.strides[axis];
  const std::int64_t reach = tap * window.dilations[axis] - window.pads_begin[axis];
  std::int64_t index = output * stride + reach;
  if (transposed) {
    if (output < reach || (output - reach) % stride != 0) return -1;
    index = (output - reach) / stride;
  }
  return index < window.input[axis] ? index : -1;
}

}  // namespace detail

/// For output row `row` (all axes but the last): calls body(offset, tap) for each tap of those axes
/// that lies inside the input. `offset` is the input row's first element, `tap` the first of the
/// taps along the last axis.
template <typename F>
void for_each_row_tap(const SpatialWindow& window, std::int64_t row, bool transposed,
                      const F& body) {
  const std::size_t last = window.dimensions() - 1;
  const std::int64_t taps = window.taps() / window.kernel[last];
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    std::int64_t row_rest = row;
    std::int64_t tap_rest = tap;
    std::int64_t offset = 0;
    std::int64_t scale = window.input[last];
    bool inside = true;
    for (std::size_t axis = last; axis-- > 0 && inside;) {
      const std::int64_t index = detail::read_index(window, axis, row_rest % window.output[axis],
                                                    tap_rest % window.kernel[axis], transposed);
      inside = index >= 0;
      row_rest /= window.output[axis];
      tap_rest /= window.kernel[axis];
      offset += index * scale;
      scale *= window.input[axis];
    }
    if (inside) body(offset, tap * window.kernel[last]);
  }
}

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

/// Output columns that are computed side by side, with their sums on the stack.
inline constexpr std::int64_t column_block = 256;

}  // namespace plimsoll::tensor
