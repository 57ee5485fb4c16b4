#include "tensor/operators/spatial.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/operators/checks.h"

namespace plimsoll::tensor {
namespace {

/// With these, no sum of a size, its padding, and a stride overflows.
constexpr std::int64_t largest_extent = std::int64_t{1} << 31;
constexpr std::int64_t largest_input = std::int64_t{1} << 60;

std::int64_t product(const std::vector<std::int64_t>& values) {
  std::int64_t result = 1;
  for (std::int64_t value : values) result *= value;
  return result;
}

std::vector<std::int64_t> list(const Node& node, const char* key, std::size_t count,
                               std::int64_t fallback, std::int64_t least) {
  std::vector<std::int64_t> values = node.integers(key);
  if (values.empty()) values.assign(count, fallback);
  if (values.size() != count) {
    fail_input(
        fmt::format("attribute '{}' has {} values, {} are needed", key, values.size(), count));
  }
  for (std::int64_t value : values) {
    if (value < least || value > largest_extent) {
      fail_input(fmt::format("attribute '{}' has the value {}, which is out of range", key, value));
    }
  }
  return values;
}

/// a / b upwards, b positive.
std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return a > 0 ? (a + b - 1) / b : -(-a / b);
}

ColumnRange range_within(std::int64_t begin, std::int64_t end, std::int64_t low,
                         std::int64_t high) {
  begin = std::max(begin, low);
  return {begin, std::max(begin, std::min(end, high))};
}

SpatialWindow common(const Node& node, const Shape& input, std::span<const std::int64_t> kernel) {
  if (kernel.empty() || input.rank() != kernel.size() + 2) {
    fail_input(fmt::format("input 0 of shape {} does not fit a kernel of {} dimensions",
                           input.to_string(), kernel.size()));
  }
  SpatialWindow window;
  const std::size_t count = kernel.size();
  window.kernel.assign(kernel.begin(), kernel.end());
  window.input.assign(input.dimensions().begin() + 2, input.dimensions().end());
  window.strides = list(node, "strides", count, 1, 1);
  window.dilations = list(node, "dilations", count, 1, 1);
  const std::vector<std::int64_t> pads = list(node, "pads", 2 * count, 0, 0);
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(count));
  window.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(count), pads.end());
  for (std::size_t axis = 0; axis < count; ++axis) {
    if (kernel[axis] < 1 || kernel[axis] > largest_extent ||
        (kernel[axis] - 1) * window.dilations[axis] > largest_extent) {
      fail_input(fmt::format("a kernel of size {} and dilation {} is out of range", kernel[axis],
                             window.dilations[axis]));
    }
    if (window.input[axis] > largest_input) {
      fail_input(fmt::format("input 0 of shape {} is too large", input.to_string()));
    }
  }
  return window;
}

}  // namespace

std::int64_t SpatialWindow::taps() const {
  return product(kernel);
}
std::int64_t SpatialWindow::output_positions() const {
  return product(output);
}
std::int64_t SpatialWindow::input_positions() const {
  return product(input);
}
std::int64_t SpatialWindow::output_rows() const {
  std::int64_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < output.size(); ++axis) rows *= output[axis];
  return rows;
}

ColumnRange inside_columns(const SpatialWindow& window, std::int64_t tap, std::int64_t first,
                           std::int64_t last) {
  const std::int64_t shift = tap_shift(window, tap);
  const std::int64_t stride = window.strides.back();
  return range_within(divide_up(-shift, stride), divide_up(window.input.back() - shift, stride),
                      first, last);
}

ColumnRange transposed_columns(const SpatialWindow& window, std::int64_t tap, std::int64_t first,
                               std::int64_t last) {
  const std::int64_t shift = tap_shift(window, tap);
  const std::int64_t stride = window.strides.back();
  return range_within(divide_up(first - shift, stride), divide_up(last - shift, stride), 0,
                      window.input.back());
}

SpatialWindow spatial_window(const Node& node, const Shape& input,
                             std::span<const std::int64_t> kernel, bool ceil_mode) {
  SpatialWindow window = common(node, input, kernel);
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const std::int64_t extent = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    const std::int64_t size = window.input[axis];
    const std::int64_t stride = window.strides[axis];
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      const std::int64_t out = (size + stride - 1) / stride;
      const std::int64_t pad = std::max<std::int64_t>(0, (out - 1) * stride + extent - size);
      const std::int64_t small = pad / 2;
      window.pads_begin[axis] = auto_pad == "SAME_UPPER" ? small : pad - small;
      window.pads_end[axis] = pad - window.pads_begin[axis];
    } else if (auto_pad == "VALID") {
      window.pads_begin[axis] = 0;
      window.pads_end[axis] = 0;
    } else if (auto_pad != "NOTSET") {
      fail_input(fmt::format("auto_pad '{}' is not known", auto_pad));
    }
    const std::int64_t room = size + window.pads_begin[axis] + window.pads_end[axis] - extent;
    std::int64_t out =
        room < 0 ? 0 : (ceil_mode ? (room + stride - 1) / stride : room / stride) + 1;
    // A window that would start in the padding at the end is left out.
    if (ceil_mode && out > 0 && (out - 1) * stride >= size + window.pads_begin[axis]) --out;
    window.output.push_back(out);
  }
  return window;
}

SpatialWindow transposed_window(const Node& node, const Shape& input,
                                std::span<const std::int64_t> kernel) {
  SpatialWindow window = common(node, input, kernel);
  const std::size_t count = kernel.size();
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  const std::vector<std::int64_t> extra = list(node, "output_padding", count, 0, 0);
  std::vector<std::int64_t> wanted = node.integers("output_shape");
  if (wanted.size() == count + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != count) {
    fail_input("attribute 'output_shape' has another rank than the kernel");
  }
  for (std::size_t axis = 0; axis < count; ++axis) {
    const std::int64_t extent = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    const std::int64_t full =
        checked_product(window.input[axis] - 1, window.strides[axis], "output size") + extra[axis] +
        extent;
    const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
    if (!wanted.empty() || same) {
      const std::int64_t out =
          wanted.empty() ? checked_product(window.input[axis], window.strides[axis], "output size")
                         : checked_product(wanted[axis], 1, "output size");
      const std::int64_t pad = std::max<std::int64_t>(0, full - out);
      const std::int64_t small = pad / 2;
      window.pads_begin[axis] = auto_pad == "SAME_UPPER" ? small : pad - small;
      window.pads_end[axis] = pad - window.pads_begin[axis];
      window.output.push_back(out);
      continue;
    }
    if (auto_pad == "VALID") {
      window.pads_begin[axis] = 0;
      window.pads_end[axis] = 0;
    } else if (auto_pad != "NOTSET") {
      fail_input(fmt::format("auto_pad '{}' is not known", auto_pad));
    }
    window.output.push_back(
        std::max<std::int64_t>(0, full - window.pads_begin[axis] - window.pads_end[axis]));
  }
  return window;
}

}  // namespace plimsoll::tensor
