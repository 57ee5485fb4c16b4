// What convolutions share: how input and weight fit, and the loop over rows. Why it exists: Conv,
// its transposed form and the integer forms differ in element types and rounding only. It is the
// portable reference: no im2col buffer, padding cut off before the innermost loop. May touch:
// spatial.h, thread_pool.h.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/kernels/thread_pool.h"
#include "tensor/operators/spatial.h"

namespace plimsoll::tensor {

/// Input N×C×spatial; weight M×(C/groups)×kernel, transposed C×(M/groups)×kernel.
struct ConvolutionShape {
  SpatialWindow window;
  std::int64_t batch = 0;
  std::int64_t channels = 0;  ///< of the input
  std::int64_t outputs = 0;   ///< channels of the output
  std::int64_t groups = 1;

  /// Reads the node's attributes. Throws Error(bad_input) where the shapes do not fit.
  ConvolutionShape(const Node& node, const Shape& input, const Shape& weight, bool transposed);
  [[nodiscard]] Shape output() const;
  [[nodiscard]] std::int64_t group_inputs() const { return channels / groups; }
  [[nodiscard]] std::int64_t group_outputs() const { return outputs / groups; }
};

/// Throws Error(bad_input) unless input `index` has one value for each output channel.
void check_channel_values(const InferContext& context, std::size_t index,
                          const ConvolutionShape& shape, std::string_view what);

/// Computes all outputs:
///   number(x)       an input's element as Sum
///   factor(w, m)    a weight's element, for output channel m, as Sum
///   start(m)        what a sum begins with
///   put(y, m, sum)  writes the output's element y
template <typename Sum, typename X, typename W, typename Number, typename Factor, typename Start,
          typename Put>
void convolve(kernels::ThreadPool& threads, const ConvolutionShape& shape, const X* x, const W* w,
              bool transposed, const Number& number, const Factor& factor, const Start& start,
              const Put& put) {
  const SpatialWindow& window = shape.window;
  const std::int64_t in_positions = window.input_positions();
  const std::int64_t taps = window.taps();
  const std::int64_t rows = window.output_rows();
  const std::int64_t columns = window.output_columns();
  const std::int64_t last_taps = window.kernel.back();
  const std::int64_t stride = window.strides.back();
  const std::int64_t group_in = shape.group_inputs();
  const std::int64_t group_out = shape.group_outputs();
  // Weights of one output channel: consecutive input channels are this far apart.
  const std::int64_t channel_step = transposed ? group_out * taps : taps;
  const auto compute_block = [&](std::int64_t plane, std::int64_t row, std::int64_t first,
                                 std::int64_t count) {
    const std::int64_t m = plane % shape.outputs;
    const std::int64_t first_channel = m / group_out * group_in;
    const X* source = x + (plane / shape.outputs * shape.channels + first_channel) * in_positions;
    const W* filter = transposed ? w + (first_channel * group_out + m % group_out) * taps
                                 : w + m * group_in * taps;
    std::array<Sum, static_cast<std::size_t>(column_block)> sums;
    std::fill_n(sums.begin(), count, start(m));
    for_each_row_tap(window, row, transposed, [&](std::int64_t offset, std::int64_t first_tap) {
      for (std::int64_t tap = 0; tap < last_taps; ++tap) {
        const std::int64_t shift = tap_shift(window, tap);
        const ColumnRange range = transposed ? transposed_columns(window, tap, first, first + count)
                                             : inside_columns(window, tap, first, first + count);
        for (std::int64_t c = 0; c < group_in; ++c) {
          const Sum weight = factor(filter[c * channel_step + first_tap + tap], m);
          const X* from = source + c * in_positions + offset;
          if (transposed) {
            Sum* to = sums.data() + (shift - first);
            for (std::int64_t i = range.begin; i < range.end; ++i) {
              to[i * stride] += weight * number(from[i]);
            }
          } else if (stride == 1) {
            Sum* to = sums.data() - first;
            for (std::int64_t i = range.begin; i < range.end; ++i) {
              to[i] += weight * number(from[i + shift]);
            }
          } else {
            Sum* to = sums.data() - first;
            for (std::int64_t i = range.begin; i < range.end; ++i) {
              to[i] += weight * number(from[i * stride + shift]);
            }
          }
        }
      }
    });
    const std::int64_t at = (plane * rows + row) * columns + first;
    for (std::int64_t i = 0; i < count; ++i) {
      put(at + i, m, sums[static_cast<std::size_t>(i)]);
    }
  };
  const std::int64_t work = std::max<std::int64_t>(1, columns * taps * group_in);
  threads.parallel_for(
      shape.batch * shape.outputs * rows, std::max<std::int64_t>(1, 16 * 1024 / work),
      [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
        for (std::int64_t line = begin; line < end; ++line) {
          for (std::int64_t first = 0; first < columns; first += column_block) {
            compute_block(line / rows, line % rows, first, std::min(column_block, columns - first));
          }
        }
      });
}

void register_integer_convolution(OperatorTable& table);
void register_deformable_convolution(OperatorTable& table);

}  // namespace plimsoll::tensor
