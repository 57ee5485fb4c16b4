// Conv and ConvTranspose. Semantics: ONNX Operators.md.
#include "tensor/operators/convolution.h"

#include <fmt/format.h>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"

namespace plimsoll::tensor {

ConvolutionShape::ConvolutionShape(const Node& node, const Shape& input, const Shape& weight,
                                   bool transposed)
    : groups(node.integer("group", 1)) {
  if (input.rank() < 3 || weight.rank() != input.rank()) {
    fail_input(fmt::format("an input of shape {} and a weight of shape {} do not fit",
                           input.to_string(), weight.to_string()));
  }
  batch = input[0];
  channels = input[1];
  const bool known = groups >= 1 && groups <= std::max<std::int64_t>(1, channels);
  const std::int64_t inner =
      !known ? 0 : (transposed ? weight[0] : checked_product(weight[1], groups, "channels"));
  if (!known || inner != channels || channels % groups != 0 ||
      (!transposed && weight[0] % groups != 0)) {
    fail_input(
        fmt::format("an input of shape {} and a weight of shape {} do not fit with {} groups",
                    input.to_string(), weight.to_string(), groups));
  }
  outputs = transposed ? checked_product(weight[1], groups, "channels") : weight[0];
  const std::span<const std::int64_t> kernel = weight.dimensions().subspan(2);
  const std::vector<std::int64_t> declared = node.integers("kernel_shape");
  if (!declared.empty() && !std::ranges::equal(declared, kernel)) {
    fail_input(fmt::format("attribute 'kernel_shape' disagrees with a weight of shape {}",
                           weight.to_string()));
  }
  window =
      transposed ? transposed_window(node, input, kernel) : spatial_window(node, input, kernel);
}

Shape ConvolutionShape::output() const {
  std::vector<std::int64_t> dimensions{batch, outputs};
  dimensions.insert(dimensions.end(), window.output.begin(), window.output.end());
  return Shape(dimensions);
}

void check_channel_values(const InferContext& context, std::size_t index,
                          const ConvolutionShape& shape, std::string_view what) {
  if (context.input(index).shape != Shape{shape.outputs}) {
    fail_input(fmt::format("{} of shape {} do not fit {} output channels", what,
                           context.input(index).shape.to_string(), shape.outputs));
  }
}

namespace {

template <bool transposed>
void infer_convolution(InferContext& context) {
  check_input_count(context, 2, 3);
  const TensorType& input = check_type(context, 0, float_types);
  check_same_type(context, 0, 1);
  const ConvolutionShape shape(context.node(), input.shape, context.input(1).shape, transposed);
  if (context.has_input(2)) {
    check_same_type(context, 0, 2);
    check_channel_values(context, 2, shape, "biases");
  }
  context.set_output(0, input.element, shape.output());
}

template <bool transposed>
void run_convolution(RunContext& context) {
  const ConvolutionShape shape(context.node(), context.input(0).shape, context.input(1).shape,
                               transposed);
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using C = Compute<T>;
    const T* bias = context.has_input(2) ? context.input(2).as<T>() : nullptr;
    T* y = context.output(0).as<T>();
    convolve<C>(
        context.threads(), shape, context.input(0).as<T>(), context.input(1).as<T>(), transposed,
        [](const T& x) { return load(x); }, [](const T& w, std::int64_t /*m*/) { return load(w); },
        [&](std::int64_t m) { return bias == nullptr ? C{0} : load(bias[m]); },
        [&](std::int64_t at, std::int64_t /*m*/, C sum) { y[at] = store<T>(sum); });
  });
}

}  // namespace

void register_convolution(OperatorTable& table) {
  table.add({.name = "Conv", .infer = infer_convolution<false>, .run = run_convolution<false>});
  table.add(
      {.name = "ConvTranspose", .infer = infer_convolution<true>, .run = run_convolution<true>});
  register_integer_convolution(table);
  register_deformable_convolution(table);
}

}  // namespace plimsoll::tensor
