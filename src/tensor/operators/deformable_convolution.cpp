// DeformConv, 2-D: each tap reads at its own offset, between pixels, and may have a mask.
// Semantics: ONNX Operators.md; Dai et al. 2017, Zhu et al. 2018 (the mask).
//
//   input N×C×H×W, weight M×(C/groups)×kh×kw, offset N×(offset_group·kh·kw·2)×oh×ow with (y, x)
//   pairs, mask N×(offset_group·kh·kw)×oh×ow
#include <fmt/format.h>

#include <cmath>

#include "tensor/operators/checks.h"
#include "tensor/operators/convolution.h"

namespace plimsoll::tensor {
namespace {

struct DeformableShape : ConvolutionShape {
  std::int64_t offset_groups = 1;

  DeformableShape(const Node& node, const Shape& input, const Shape& weight)
      : ConvolutionShape(node, input, weight, false),
        offset_groups(node.integer("offset_group", 1)) {
    if (input.rank() != 4) fail_unsupported("DeformConv of other than 2-D images");
    if (offset_groups < 1 || offset_groups > channels || channels % offset_groups != 0) {
      fail_input(fmt::format("{} channels do not fit {} offset groups", channels, offset_groups));
    }
  }
};

void check_offsets(const InferContext& context, std::size_t index, const DeformableShape& shape,
                   std::int64_t values) {
  check_same_type(context, 0, index);
  const std::int64_t planes =
      checked_product(shape.offset_groups * values, shape.window.taps(), "offsets");
  const Shape wanted{shape.batch, planes, shape.window.output[0], shape.window.output[1]};
  if (context.input(index).shape != wanted) {
    fail_input(fmt::format("input {} has shape {}, {} is needed", index,
                           context.input(index).shape.to_string(), wanted.to_string()));
  }
}

void infer_deformable(InferContext& context) {
  check_input_count(context, 3, 5);
  const TensorType& input = check_type(context, 0, float_types);
  check_same_type(context, 0, 1);
  const DeformableShape shape(context.node(), input.shape, context.input(1).shape);
  check_offsets(context, 2, shape, 2);
  if (context.has_input(3)) {
    check_same_type(context, 0, 3);
    check_channel_values(context, 3, shape, "biases");
  }
  if (context.has_input(4)) check_offsets(context, 4, shape, 1);
  context.set_output(0, input.element, shape.output());
}

/// Bilinear between the four pixels around (y, x); pixels outside the image are 0.
template <typename T>
Compute<T> sample(const T* plane, std::int64_t height, std::int64_t width, Compute<T> y,
                  Compute<T> x) {
  using C = Compute<T>;
  if (!(y > C{-1} && x > C{-1} && y < static_cast<C>(height) && x < static_cast<C>(width))) {
    return 0;
  }
  const C floor_y = std::floor(y);
  const C floor_x = std::floor(x);
  const auto top = static_cast<std::int64_t>(floor_y);
  const auto left = static_cast<std::int64_t>(floor_x);
  const auto pixel = [&](std::int64_t row, std::int64_t column) {
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? load(plane[row * width + column]) : C{0};
  };
  const C down = y - floor_y;
  const C right = x - floor_x;
  return (1 - down) * ((1 - right) * pixel(top, left) + right * pixel(top, left + 1)) +
         down * ((1 - right) * pixel(top + 1, left) + right * pixel(top + 1, left + 1));
}

/// Outputs of one position and one group: pixels are sampled once for a block of output channels.
template <typename T>
class DeformableRun {
 public:
  using C = Compute<T>;
  static constexpr std::int64_t outputs_at_once = 64;

  DeformableRun(RunContext& context, const DeformableShape& shape)
      : shape_(shape),
        x_(context.input(0).as<T>()),
        w_(context.input(1).as<T>()),
        offsets_(context.input(2).as<T>()),
        bias_(context.has_input(3) ? context.input(3).as<T>() : nullptr),
        mask_(context.has_input(4) ? context.input(4).as<T>() : nullptr),
        y_(context.output(0).as<T>()) {}

  void compute(std::int64_t n, std::int64_t group, std::int64_t position) const {
    const SpatialWindow& window = shape_.window;
    const std::int64_t group_out = shape_.group_outputs();
    const std::int64_t group_in = shape_.group_inputs();
    const std::int64_t taps = window.taps();
    const std::int64_t positions = window.output_positions();
    for (std::int64_t first = 0; first < group_out; first += outputs_at_once) {
      const std::int64_t count = std::min(outputs_at_once, group_out - first);
      const std::int64_t m = group * group_out + first;
      std::array<C, outputs_at_once> sums{};
      for (std::int64_t c = 0; c < group_in; ++c) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          const C value = tap_value(n, group * group_in + c, tap, position);
          const T* weight = w_ + (m * group_in + c) * taps + tap;
          for (std::int64_t o = 0; o < count; ++o) {
            sums[static_cast<std::size_t>(o)] += value * load(weight[o * group_in * taps]);
          }
        }
      }
      for (std::int64_t o = 0; o < count; ++o) {
        C sum = sums[static_cast<std::size_t>(o)];
        if (bias_ != nullptr) sum += load(bias_[m + o]);
        y_[(n * shape_.outputs + m + o) * positions + position] = store<T>(sum);
      }
    }
  }

 private:
  [[nodiscard]] C tap_value(std::int64_t n, std::int64_t channel, std::int64_t tap,
                            std::int64_t position) const {
    const SpatialWindow& window = shape_.window;
    const std::int64_t taps = window.taps();
    const std::int64_t positions = window.output_positions();
    const std::int64_t owner = channel / (shape_.channels / shape_.offset_groups);
    const std::int64_t number = (n * shape_.offset_groups + owner) * taps + tap;
    const std::int64_t row = position / window.output[1];
    const std::int64_t column = position % window.output[1];
    const std::int64_t y = row * window.strides[0] - window.pads_begin[0] +
                           tap / window.kernel[1] * window.dilations[0];
    const std::int64_t x = column * window.strides[1] - window.pads_begin[1] +
                           tap % window.kernel[1] * window.dilations[1];
    const T* offset = offsets_ + number * 2 * positions + position;
    const C value = sample(x_ + (n * shape_.channels + channel) * window.input_positions(),
                           window.input[0], window.input[1], static_cast<C>(y) + load(offset[0]),
                           static_cast<C>(x) + load(offset[positions]));
    return mask_ == nullptr ? value : value * load(mask_[number * positions + position]);
  }

  const DeformableShape& shape_;
  const T* x_;
  const T* w_;
  const T* offsets_;
  const T* bias_;
  const T* mask_;
  T* y_;
};

void run_deformable(RunContext& context) {
  const DeformableShape shape(context.node(), context.input(0).shape, context.input(1).shape);
  const std::int64_t positions = shape.window.output_positions();
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    const DeformableRun<T> run(context, shape);
    context.threads().parallel_for(shape.batch * shape.groups * positions, 16,
                                   [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
                                     for (std::int64_t at = begin; at < end; ++at) {
                                       const std::int64_t plane = at / positions;
                                       run.compute(plane / shape.groups, plane % shape.groups,
                                                   at % positions);
                                     }
                                   });
  });
}

}  // namespace

void register_deformable_convolution(OperatorTable& table) {
  table.add({.name = "DeformConv",
             .since_version = 19,
             .infer = infer_deformable,
             .run = run_deformable});
}

}  // namespace plimsoll::tensor
