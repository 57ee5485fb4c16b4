// Conv and ConvTranspose: the portable reference. No im2col buffer; padding is skipped tap by tap.
// Semantics: ONNX Operators.md.
#include <fmt/format.h>

#include <algorithm>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/number.h"
#include "tensor/operators/spatial.h"

namespace plimsoll::tensor {
namespace {

struct Geometry {
  SpatialWindow window;
  std::int64_t batch = 0;
  std::int64_t channels = 0;  ///< of the input
  std::int64_t outputs = 0;   ///< channels of the output
  std::int64_t groups = 1;
};

std::vector<std::int64_t> kernel_shape(const Node& node, const Shape& weight) {
  std::vector<std::int64_t> kernel(weight.dimensions().begin() + 2, weight.dimensions().end());
  const std::vector<std::int64_t> declared = node.integers("kernel_shape");
  if (!declared.empty() && declared != kernel) {
    fail_input(fmt::format("attribute 'kernel_shape' disagrees with the weight's shape {}",
                           weight.to_string()));
  }
  return kernel;
}

Geometry geometry(const Node& node, const Shape& input, const Shape& weight, bool transposed) {
  if (input.rank() < 3 || weight.rank() != input.rank()) {
    fail_input(fmt::format("input 0 of shape {} and weight of shape {} do not fit",
                           input.to_string(), weight.to_string()));
  }
  Geometry result;
  result.batch = input[0];
  result.channels = input[1];
  result.groups = node.integer("group", 1);
  const std::int64_t inner = transposed ? weight[0] : weight[1] * result.groups;
  if (result.groups < 1 || inner != input[1] || input[1] % result.groups != 0 ||
      (!transposed && weight[0] % result.groups != 0)) {
    fail_input(fmt::format("input 0 of shape {} and weight of shape {} do not fit with {} groups",
                           input.to_string(), weight.to_string(), result.groups));
  }
  result.outputs = transposed ? weight[1] * result.groups : weight[0];
  const std::vector<std::int64_t> kernel = kernel_shape(node, weight);
  result.window =
      transposed ? transposed_window(node, input, kernel) : spatial_window(node, input, kernel);
  return result;
}

void infer_convolution(InferContext& context, bool transposed) {
  check_input_count(context, 2, 3);
  const TensorType& input = check_type(context, 0, float_types);
  check_same_type(context, 0, 1);
  const Geometry shape = geometry(context.node(), input.shape, context.input(1).shape, transposed);
  if (context.has_input(2)) {
    check_same_type(context, 0, 2);
    if (context.input(2).shape != Shape{shape.outputs}) {
      fail_input(fmt::format("the bias of shape {} does not fit {} output channels",
                             context.input(2).shape.to_string(), shape.outputs));
    }
  }
  std::vector<std::int64_t> output{shape.batch, shape.outputs};
  output.insert(output.end(), shape.window.output.begin(), shape.window.output.end());
  context.set_output(0, input.element, Shape(output));
}

template <typename T>
void convolve(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const ConstTensorView weight = context.input(1);
  const Geometry shape = geometry(context.node(), input.shape, weight.shape, false);
  const T* x = input.as<T>();
  const T* w = weight.as<T>();
  const T* bias = context.has_input(2) ? context.input(2).as<T>() : nullptr;
  T* y = context.output(0).as<T>();
  const std::int64_t in_positions = shape.window.input_positions();
  const std::int64_t out_positions = shape.window.output_positions();
  const std::int64_t taps = shape.window.taps();
  const std::int64_t group_in = shape.channels / shape.groups;
  const std::int64_t group_out = shape.outputs / shape.groups;
  context.threads().parallel_for(
      shape.batch * shape.outputs, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t plane = begin; plane < end; ++plane) {
          const std::int64_t n = plane / shape.outputs;
          const std::int64_t o = plane % shape.outputs;
          const T* source = x + (n * shape.channels + o / group_out * group_in) * in_positions;
          const T* filter = w + o * group_in * taps;
          for (std::int64_t position = 0; position < out_positions; ++position) {
            Arithmetic<T> sum = bias == nullptr ? 0 : widen(bias[o]);
            for_each_tap(shape.window, position, [&](std::int64_t at, std::int64_t tap) {
              for (std::int64_t c = 0; c < group_in; ++c) {
                sum += widen(source[c * in_positions + at]) * widen(filter[c * taps + tap]);
              }
            });
            y[plane * out_positions + position] = narrow<T>(sum);
          }
        }
      });
}

/// Gathers: an output position p takes input position i where p = i·stride + tap·dilation − pad.
template <typename T>
void convolve_transposed(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const ConstTensorView weight = context.input(1);
  const Geometry shape = geometry(context.node(), input.shape, weight.shape, true);
  const SpatialWindow& window = shape.window;
  const T* x = input.as<T>();
  const T* w = weight.as<T>();
  const T* bias = context.has_input(2) ? context.input(2).as<T>() : nullptr;
  T* y = context.output(0).as<T>();
  const std::int64_t in_positions = window.input_positions();
  const std::int64_t out_positions = window.output_positions();
  const std::int64_t taps = window.taps();
  const std::int64_t group_in = shape.channels / shape.groups;
  const std::int64_t group_out = shape.outputs / shape.groups;
  const std::size_t rank = window.dimensions();
  context.threads().parallel_for(
      shape.batch * shape.outputs, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t plane = begin; plane < end; ++plane) {
          const std::int64_t n = plane / shape.outputs;
          const std::int64_t o = plane % shape.outputs;
          const std::int64_t first = o / group_out * group_in;
          const T* source = x + (n * shape.channels + first) * in_positions;
          const T* filter = w + (first * group_out + o % group_out) * taps;
          for (std::int64_t position = 0; position < out_positions; ++position) {
            Arithmetic<T> sum = bias == nullptr ? 0 : widen(bias[o]);
            for (std::int64_t tap = 0; tap < taps; ++tap) {
              std::int64_t at = 0;
              std::int64_t scale = 1;
              std::int64_t tap_rest = tap;
              std::int64_t rest = position;
              bool inside = true;
              for (std::size_t axis = rank; axis-- > 0;) {
                const std::int64_t reach = rest % window.output[axis] + window.pads_begin[axis] -
                                           tap_rest % window.kernel[axis] * window.dilations[axis];
                rest /= window.output[axis];
                tap_rest /= window.kernel[axis];
                const std::int64_t index = reach / window.strides[axis];
                if (reach < 0 || reach % window.strides[axis] != 0 || index >= window.input[axis]) {
                  inside = false;
                  break;
                }
                at += index * scale;
                scale *= window.input[axis];
              }
              if (!inside) continue;
              for (std::int64_t c = 0; c < group_in; ++c) {
                sum += widen(source[c * in_positions + at]) *
                       widen(filter[c * group_out * taps + tap]);
              }
            }
            y[plane * out_positions + position] = narrow<T>(sum);
          }
        }
      });
}

void run_conv(RunContext& context) {
  dispatch(context.input(0).type, FloatTypes{},
           [&]<typename T>(Tag<T> /*tag*/) { convolve<T>(context); });
}
void run_conv_transpose(RunContext& context) {
  dispatch(context.input(0).type, FloatTypes{},
           [&]<typename T>(Tag<T> /*tag*/) { convolve_transposed<T>(context); });
}

}  // namespace

void register_convolution(OperatorTable& table) {
  table.add({.name = "Conv",
             .infer = [](InferContext& context) { infer_convolution(context, false); },
             .run = run_conv});
  table.add({.name = "ConvTranspose",
             .infer = [](InferContext& context) { infer_convolution(context, true); },
             .run = run_conv_transpose});
}

}  // namespace plimsoll::tensor
