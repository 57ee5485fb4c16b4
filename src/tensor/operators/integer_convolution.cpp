// ConvInteger and QLinearConv. Semantics: ONNX Operators.md. Padding stands for the zero point, so
// it adds nothing. Sums are exact in 32 bits, which wrap.
#include <fmt/format.h>

#include "tensor/operators/checks.h"
#include "tensor/operators/convolution.h"
#include "tensor/operators/quantize.h"

namespace plimsoll::tensor {
namespace {

using ByteTypes = Types<std::int8_t, std::uint8_t>;

/// Where the inputs of an integer convolution are.
struct ConvolutionInputs {
  std::size_t x;
  std::size_t w;
  std::size_t x_zero;
  std::size_t w_zero;
};
constexpr ConvolutionInputs integer_inputs{0, 1, 2, 3};
constexpr ConvolutionInputs linear_inputs{0, 3, 2, 5};

ConvolutionShape check_convolution(InferContext& context, const ConvolutionInputs& inputs) {
  const TensorType& x = check_type(context, inputs.x, set_of(ByteTypes{}));
  const TensorType& w = check_type(context, inputs.w, set_of(ByteTypes{}));
  const ConvolutionShape shape(context.node(), x.shape, w.shape, false);
  if (context.has_input(inputs.x_zero)) {
    check_same_type(context, inputs.x, inputs.x_zero);
    check_scalar(context, inputs.x_zero);
  }
  if (context.has_input(inputs.w_zero)) {
    check_same_type(context, inputs.w, inputs.w_zero);
    if (context.input(inputs.w_zero).shape.elements() != 1) {
      check_channel_values(context, inputs.w_zero, shape, "zero points");
    }
  }
  return shape;
}

/// The convolution of bytes less their zero points; start(m) and put(y, m, sum) as in convolve.
template <typename X, typename W, typename Start, typename Put>
void convolve_bytes(RunContext& context, const ConvolutionInputs& inputs, const Start& start,
                    const Put& put) {
  const ConvolutionShape shape(context.node(), context.input(inputs.x).shape,
                               context.input(inputs.w).shape, false);
  const std::int32_t x_zero =
      context.has_input(inputs.x_zero) ? *context.input(inputs.x_zero).as<X>() : 0;
  const W none = 0;
  const bool has_w_zero = context.has_input(inputs.w_zero);
  const W* w_zero = has_w_zero ? context.input(inputs.w_zero).as<W>() : &none;
  const std::int64_t step = has_w_zero && context.input(inputs.w_zero).elements() != 1 ? 1 : 0;
  convolve<std::uint32_t>(
      context.threads(), shape, context.input(inputs.x).as<X>(), context.input(inputs.w).as<W>(),
      false, [&](X x) { return static_cast<std::uint32_t>(std::int32_t{x} - x_zero); },
      [&](W w, std::int64_t m) {
        return static_cast<std::uint32_t>(std::int32_t{w} - w_zero[m * step]);
      },
      start, put);
}

void infer_conv_integer(InferContext& context) {
  check_input_count(context, 2, 4);
  context.set_output(0, ElementType::i32, check_convolution(context, integer_inputs).output());
}

void run_conv_integer(RunContext& context) {
  auto* y = context.output(0).as<std::int32_t>();
  dispatch(context.input(0).type, ByteTypes{}, [&]<typename X>(Tag<X> /*tag*/) {
    dispatch(context.input(1).type, ByteTypes{}, [&]<typename W>(Tag<W> /*tag*/) {
      convolve_bytes<X, W>(
          context, integer_inputs, [](std::int64_t /*m*/) { return std::uint32_t{0}; },
          [&](std::int64_t at, std::int64_t /*m*/, std::uint32_t sum) {
            y[at] = static_cast<std::int32_t>(sum);
          });
    });
  });
}

/// Inputs: x, its scale and zero point, w, its scales and zero points, the output's scale and zero
/// point, a bias in i32 whose scale is that of the products.
void infer_qlinear_conv(InferContext& context) {
  check_input_count(context, 8, 9);
  const ConvolutionShape shape = check_convolution(context, linear_inputs);
  for (std::size_t index : {std::size_t{1}, std::size_t{4}, std::size_t{6}}) {
    check_type(context, index, TypeSet{ElementType::f32});
    if (index != 4) check_scalar(context, index);
  }
  if (context.input(4).shape.elements() != 1) check_channel_values(context, 4, shape, "scales");
  const TensorType& zero = check_type(context, 7, set_of(ByteTypes{}));
  check_scalar(context, 7);
  if (context.has_input(8)) {
    check_type(context, 8, TypeSet{ElementType::i32});
    check_channel_values(context, 8, shape, "biases");
  }
  context.set_output(0, zero.element, shape.output());
}

void run_qlinear_conv(RunContext& context) {
  const float x_scale = *context.input(1).as<float>();
  const auto* w_scales = context.input(4).as<float>();
  const std::int64_t step = context.input(4).elements() == 1 ? 0 : 1;
  const float y_scale = *context.input(6).as<float>();
  const std::int32_t* bias = context.has_input(8) ? context.input(8).as<std::int32_t>() : nullptr;
  const auto start = [&](std::int64_t m) {
    return bias == nullptr ? 0U : static_cast<std::uint32_t>(bias[m]);
  };
  dispatch(context.output(0).type, ByteTypes{}, [&]<typename Y>(Tag<Y> /*tag*/) {
    Y* y = context.output(0).as<Y>();
    const auto zero = static_cast<float>(*context.input(7).as<Y>());
    const auto put = [&](std::int64_t at, std::int64_t m, std::uint32_t sum) {
      const float scale = x_scale * w_scales[m * step] / y_scale;
      y[at] = quantized<Y>(static_cast<float>(static_cast<std::int32_t>(sum)) * scale, zero);
    };
    dispatch(context.input(0).type, ByteTypes{}, [&]<typename X>(Tag<X> /*tag*/) {
      dispatch(context.input(3).type, ByteTypes{}, [&]<typename W>(Tag<W> /*tag*/) {
        convolve_bytes<X, W>(context, linear_inputs, start, put);
      });
    });
  });
}

}  // namespace

void register_integer_convolution(OperatorTable& table) {
  table.add({.name = "ConvInteger",
             .since_version = 10,
             .infer = infer_conv_integer,
             .run = run_conv_integer});
  table.add({.name = "QLinearConv",
             .since_version = 10,
             .infer = infer_qlinear_conv,
             .run = run_qlinear_conv});
}

}  // namespace plimsoll::tensor
