// Pad and CenterCropPad.
#include "tensor/operators/padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/dispatch.h"
#include "tensor/operators/shaping.h"

namespace plimsoll::tensor {
namespace {

/// Output bytes that one thread fills at least.
constexpr std::int64_t grain_bytes = 64 * 1024;

/// Source index of index `i` counted from the input's first element, for a dimension of n ≥ 1.
std::int64_t source_index(std::int64_t i, std::int64_t n, PadMode mode) {
  switch (mode) {
    case PadMode::edge:
      return std::clamp<std::int64_t>(i, 0, n - 1);
    case PadMode::wrap:
      return (i % n + n) % n;
    case PadMode::reflect: {
      if (n == 1) return 0;
      const std::int64_t period = 2 * (n - 1);
      const std::int64_t phase = (i % period + period) % period;
      return phase < n ? phase : period - phase;
    }
    case PadMode::constant:
      break;
  }
  return i;
}

/// Dimensions that are not padded at the end are one unit that is moved as a whole.
struct PadLoop {
  std::size_t rank = 0;
  std::array<std::int64_t, Shape::max_rank> from{};
  std::array<std::int64_t, Shape::max_rank> to{};
  std::array<std::int64_t, Shape::max_rank> before{};
  std::int64_t unit = 1;

  PadLoop(const Shape& input, const Shape& output, std::span<const std::int64_t> pads) {
    rank = input.rank();
    while (rank > 0 && pads[rank - 1] == 0 && input[rank - 1] == output[rank - 1]) {
      unit *= input[--rank];
    }
    for (std::size_t axis = 0; axis < rank; ++axis) {
      from[axis] = input[axis];
      to[axis] = output[axis];
      before[axis] = pads[axis];
    }
    if (rank == 0) {
      from[0] = to[0] = 1;
      rank = 1;
    }
  }
  [[nodiscard]] std::int64_t rows() const {
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis + 1 < rank; ++axis) count *= to[axis];
    return count;
  }
  /// The input row that an output row comes from; −1 where it is all padding.
  [[nodiscard]] std::int64_t source_row(std::int64_t row, PadMode mode) const {
    std::int64_t source = 0;
    std::int64_t stride = 1;
    for (std::size_t axis = rank - 1; axis-- > 0;) {
      const std::int64_t position = source_index(row % to[axis] - before[axis], from[axis], mode);
      row /= to[axis];
      if (position < 0 || position >= from[axis]) return -1;
      source += position * stride;
      stride *= from[axis];
    }
    return source;
  }
};

template <typename T>
void pad_rows(kernels::ThreadPool& threads, const PadLoop& loop, PadMode mode, const T* input,
              T value, T* output) {
  const std::int64_t width = loop.to[loop.rank - 1];
  const std::int64_t input_width = loop.from[loop.rank - 1];
  const std::int64_t before = loop.before[loop.rank - 1];
  // The part of a row that is a plain copy.
  const std::int64_t left = std::clamp<std::int64_t>(before, 0, width);
  const std::int64_t right = std::clamp<std::int64_t>(before + input_width, left, width);
  const std::int64_t unit = loop.unit;
  const std::int64_t row_bytes = width * unit * static_cast<std::int64_t>(sizeof(T));
  if (row_bytes == 0) return;
  const std::int64_t grain = std::max<std::int64_t>(1, grain_bytes / row_bytes);
  threads.parallel_for(
      loop.rows(), grain, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
        for (std::int64_t row = begin; row < end; ++row) {
          T* to = output + row * width * unit;
          const std::int64_t source = loop.source_row(row, mode);
          if (source < 0) {
            std::fill_n(to, width * unit, value);
            continue;
          }
          const T* from = input + source * input_width * unit;
          const auto edge = [&](std::int64_t first, std::int64_t last) {
            if (mode == PadMode::constant) {
              std::fill_n(to + first * unit, (last - first) * unit, value);
              return;
            }
            for (std::int64_t i = first; i < last; ++i) {
              std::copy_n(from + source_index(i - before, input_width, mode) * unit, unit,
                          to + i * unit);
            }
          };
          edge(0, left);
          std::copy_n(from + (left - before) * unit, (right - left) * unit, to + left * unit);
          edge(right, width);
        }
      });
}

PadMode pad_mode(const Node& node) {
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") return PadMode::constant;
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "edge") return PadMode::edge;
  if (mode == "wrap" && node.opset >= 19) return PadMode::wrap;
  fail_input("attribute 'mode' is '" + mode + "'; it must be constant, reflect, edge or, from " +
             "opset 19, wrap");
}

/// Numbers of elements put in front of and behind each dimension.
struct Pads {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> behind;
};

/// Attribute `paddings` in version 1, attribute `pads` in version 2, an input from version 11, with
/// `axes` from version 18.
template <typename Context>
Pads pads_of(const Context& context, std::size_t rank) {
  const Node& node = context.node();
  std::vector<std::int64_t> given;
  std::vector<std::size_t> axes;
  if (node.opset < 11) {
    given = node.integers(node.opset < 2 ? "paddings" : "pads");
  } else {
    given = integers_at(context, 1);
    if (node.opset >= 18 && context.has_input(3)) {
      axes = normalize_axes(integers_at(context, 3), rank);
    }
  }
  if (axes.empty()) {
    for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  }
  if (given.size() != 2 * axes.size()) {
    fail_input(fmt::format("{} pads for {} dimensions: two for each are needed", given.size(),
                           axes.size()));
  }
  Pads pads{std::vector<std::int64_t>(rank, 0), std::vector<std::int64_t>(rank, 0)};
  for (std::size_t index = 0; index < axes.size(); ++index) {
    pads.before[axes[index]] = given[index];
    pads.behind[axes[index]] = given[axes.size() + index];
  }
  return pads;
}

void infer_pad(InferContext& context) {
  const bool inputs = context.node().opset >= 11;
  check_input_count(context, inputs ? 2 : 1, inputs ? 4 : 1);
  const TensorType& type = check_type(context, 0, all_types);
  if (inputs && context.has_input(2)) {
    check_same_type(context, 0, 2);
    check_scalar(context, 2);
  }
  const PadMode mode = pad_mode(context.node());
  const Pads pads = pads_of(context, type.shape.rank());
  std::vector<std::int64_t> dimensions = to_vector(type.shape);
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
    const std::int64_t before = pads.before[axis];
    const std::int64_t behind = pads.behind[axis];
    if (mode != PadMode::constant && dimensions[axis] == 0 && (before > 0 || behind > 0)) {
      fail_input(
          fmt::format("dimension {} is empty and cannot be padded from its own elements", axis));
    }
    // What is cut in front must be there, or the rest would start beyond the end.
    if (before < -dimensions[axis] || behind < -dimensions[axis]) {
      fail_input(
          fmt::format("pads of {} and {} for a dimension of {}", before, behind, dimensions[axis]));
    }
    const std::int64_t grown = checked_sum(dimensions[axis] + std::min<std::int64_t>(before, 0),
                                           std::max<std::int64_t>(before, 0), "pads");
    dimensions[axis] = checked_sum(grown, behind, "pads");
  }
  context.set_output(0, type.element, Shape(dimensions));
}

void run_pad(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const Node& node = context.node();
  std::array<std::byte, 8> value{};
  if (node.opset >= 11) {
    if (context.has_input(2)) {
      std::memcpy(value.data(), context.input(2).data, element_size(input.type));
    }
  } else {
    dispatch(input.type, AllTypes{}, [&]<typename T>(Tag<T>) {
      if constexpr (!std::is_same_v<T, Boolean>) {
        const T converted = store<T>(node.real("value", 0.0F));
        std::memcpy(value.data(), &converted, sizeof(T));
      }
    });
  }
  const Pads pads = pads_of(context, input.shape.rank());
  pad_tensor(context.threads(), input, pads.before, pad_mode(node), value.data(), output);
}

/// CenterCropPad: dimensions named by `axes` (default: all) become those of the second input; the
/// middle stays. Odd rests: cut less in front, pad less in front.
void infer_center_crop_pad(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& type = check_type(context, 0, all_types);
  std::vector<std::int64_t> dimensions = to_vector(type.shape);
  const std::vector<std::int64_t> wanted = context.require_integers(1);
  std::vector<std::size_t> axes =
      normalize_axes(context.node().integers("axes"), type.shape.rank());
  if (axes.empty()) {
    for (std::size_t axis = 0; axis < dimensions.size(); ++axis) axes.push_back(axis);
  }
  if (wanted.size() != axes.size()) {
    fail_input(fmt::format("{} sizes for {} dimensions", wanted.size(), axes.size()));
  }
  for (std::size_t index = 0; index < axes.size(); ++index) {
    dimensions[axes[index]] = wanted[index];
  }
  context.set_output(0, type.element, Shape(dimensions));
}

void run_center_crop_pad(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  std::vector<std::int64_t> before;
  for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
    before.push_back((output.shape[axis] - input.shape[axis]) / 2);
  }
  const std::array<std::byte, 8> zero{};
  pad_tensor(context.threads(), input, before, PadMode::constant, zero.data(), output);
}

}  // namespace

void pad_tensor(kernels::ThreadPool& threads, const ConstTensorView& input,
                std::span<const std::int64_t> before, PadMode mode, const std::byte* value,
                const TensorView& output) {
  const PadLoop loop(input.shape, output.shape, before);
  dispatch_width(element_size(input.type), [&]<typename T>(Tag<T>) {
    T element;
    std::memcpy(&element, value, sizeof(T));
    pad_rows(threads, loop, mode, input.as<T>(), element, output.as<T>());
  });
}

void register_padding(OperatorTable& table) {
  for (int version : {1, 2, 11, 13, 18, 19, 21}) {
    table.add({.name = "Pad", .since_version = version, .infer = infer_pad, .run = run_pad});
  }
  table.add({.name = "CenterCropPad",
             .since_version = 18,
             .infer = infer_center_crop_pad,
             .run = run_center_crop_pad});
}

}  // namespace plimsoll::tensor
