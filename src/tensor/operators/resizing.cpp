// Resize and Upsample, separable over axes. Semantics: ONNX Operators.md, Resize 10 to 19.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tensor/graph/specialize.h"
#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/number.h"
#include "tensor/operators/resizing.h"

namespace plimsoll::tensor {
namespace {

struct Axis {
  std::int64_t input = 1;
  std::int64_t output = 1;
  float scale = 1;
  float roi_begin = 0;
  float roi_end = 1;
};

struct Request {
  std::vector<Axis> axes;
};

/// Positions of the inputs by version: Upsample 7 has attributes, Upsample 9 and Resize 10 have
/// (X, scales), Resize 11 and later (X, roi, scales, sizes).
struct InputNumbers {
  std::size_t roi = SIZE_MAX;
  std::size_t scales = SIZE_MAX;
  std::size_t sizes = SIZE_MAX;
};
InputNumbers numbers(const Node& node) {
  if (node.op_type == "Upsample" && node.opset < 9) return {};
  if (node.op_type == "Upsample" || node.opset < 11) return {SIZE_MAX, 1, SIZE_MAX};
  return {1, 2, 3};
}

std::int64_t rounded_size(double value) {
  if (!(value >= 0) || value > 4e9) fail_input("an output size is out of range");
  return static_cast<std::int64_t>(std::floor(value));
}

template <typename Context, typename Values>
Request request_of(const Context& context, const Shape& input, const Values& values) {
  const Node& node = context.node();
  const InputNumbers which = numbers(node);
  Request request;
  request.axes.resize(input.rank());
  for (std::size_t axis = 0; axis < input.rank(); ++axis) {
    request.axes[axis].input = input[axis];
    request.axes[axis].output = input[axis];
  }
  std::vector<std::int64_t> listed = node.integers("axes");
  std::vector<std::size_t> axes;
  if (listed.empty()) {
    for (std::size_t axis = 0; axis < input.rank(); ++axis) axes.push_back(axis);
  } else {
    axes = normalize_axes(listed, input.rank());
  }
  std::vector<float> scales;
  if (which.scales == SIZE_MAX) {
    scales = node.reals("scales");
  } else if (context.has_input(which.scales)) {
    scales = values.floats(which.scales);
  }
  std::vector<std::int64_t> sizes;
  if (which.sizes != SIZE_MAX && context.has_input(which.sizes)) {
    sizes = values.integers(which.sizes);
  }
  if (scales.empty() == sizes.empty()) fail_input("either scales or sizes must be given");
  if ((scales.empty() ? sizes.size() : scales.size()) != axes.size()) {
    fail_input(fmt::format("{} scales or sizes are needed", axes.size()));
  }
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (!sizes.empty() && policy != "stretch") {
    double ratio = policy == "not_larger" ? 1e30 : 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const double own = static_cast<double>(sizes[i]) / static_cast<double>(input[axes[i]]);
      ratio = policy == "not_larger" ? std::min(ratio, own) : std::max(ratio, own);
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      Axis& axis = request.axes[axes[i]];
      axis.scale = static_cast<float>(ratio);
      axis.output = rounded_size(std::round(ratio * static_cast<double>(axis.input)));
    }
  } else {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      Axis& axis = request.axes[axes[i]];
      if (!sizes.empty()) {
        if (sizes[i] < 0) fail_input("a size is negative");
        axis.output = sizes[i];
        axis.scale = static_cast<float>(sizes[i]) / static_cast<float>(axis.input);
      } else {
        if (!(scales[i] > 0)) fail_input("a scale is not positive");
        axis.scale = scales[i];
        axis.output =
            rounded_size(static_cast<double>(axis.input) * static_cast<double>(scales[i]));
      }
    }
  }
  if (node.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize") {
    const std::vector<float> roi = values.floats(which.roi);
    if (roi.size() != 2 * axes.size()) fail_input("roi needs two values for each axis");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      Axis& axis = request.axes[axes[i]];
      axis.roi_begin = roi[i];
      axis.roi_end = roi[i + axes.size()];
      if (sizes.empty()) {
        axis.output = rounded_size(static_cast<double>(axis.input) *
                                   static_cast<double>(axis.roi_end - axis.roi_begin) *
                                   static_cast<double>(axis.scale));
      }
    }
  }
  return request;
}

struct InferValues {
  const InferContext& context;
  [[nodiscard]] std::vector<float> floats(std::size_t i) const { return context.require_floats(i); }
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t i) const {
    return context.require_integers(i);
  }
};
struct RunValues {
  const RunContext& context;
  [[nodiscard]] std::vector<float> floats(std::size_t i) const {
    return read_floats(context.input(i));
  }
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t i) const {
    return read_integers(context.input(i));
  }
};
/// An empty scales or roi input counts as left out.
template <typename Base>
struct Present {
  const Base& base;
  [[nodiscard]] const Node& node() const { return base.node(); }
  [[nodiscard]] bool has_input(std::size_t index) const {
    if (!base.has_input(index)) return false;
    if constexpr (std::is_same_v<Base, InferContext>) {
      return base.input(index).shape.elements() != 0;
    } else {
      return base.input(index).elements() != 0;
    }
  }
};

void infer_resize(InferContext& context) {
  const TensorType& input = check_type(context, 0, numeric_types);
  const Request request =
      request_of(Present<InferContext>{context}, input.shape, InferValues{context});
  std::vector<std::int64_t> output;
  for (const Axis& axis : request.axes) output.push_back(axis.output);
  context.set_output(0, input.element, Shape(output));
}

/// Source coordinate of output position x.
float source_coordinate(const std::string& mode, const Axis& axis, std::int64_t x) {
  const auto position = static_cast<float>(x);
  const auto in = static_cast<float>(axis.input);
  const auto out = static_cast<float>(axis.output);
  if (mode == "asymmetric") return position / axis.scale;
  if (mode == "pytorch_half_pixel") {
    return axis.output > 1 ? (position + 0.5F) / axis.scale - 0.5F : 0.0F;
  }
  if (mode == "align_corners") {
    // The length before rounding: what the standard's reference implementation divides by.
    const float length = axis.scale * in;
    return length > 1 ? position * (in - 1) / (length - 1) : 0.0F;
  }
  if (mode == "tf_half_pixel_for_nn") return (position + 0.5F) / axis.scale;
  if (mode == "tf_crop_and_resize") {
    return axis.output > 1 ? axis.roi_begin * (in - 1) +
                                 position * (axis.roi_end - axis.roi_begin) * (in - 1) / (out - 1)
                           : 0.5F * (axis.roi_begin + axis.roi_end) * (in - 1);
  }
  if (mode == "half_pixel_symmetric") {
    const float adjustment = out / (axis.scale * in);
    const float offset = in / 2 * (1 - adjustment);
    return offset + (position + 0.5F) / axis.scale - 0.5F;
  }
  if (mode == "half_pixel") return (position + 0.5F) / axis.scale - 0.5F;
  fail_input(fmt::format("coordinate_transformation_mode '{}' is not known", mode));
}

std::int64_t nearest(const std::string& mode, float x, float scale) {
  if (mode == "floor") return static_cast<std::int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<std::int64_t>(std::ceil(x));
  if (mode == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(x + 0.5F));
  if (mode == "round_prefer_floor") return static_cast<std::int64_t>(std::ceil(x - 0.5F));
  if (mode == "simple") {  // Resize 10: floor, but ceil where it shrinks
    return static_cast<std::int64_t>(scale < 1 ? std::ceil(x) : std::floor(x));
  }
  fail_input(fmt::format("nearest_mode '{}' is not known", mode));
}

class TapMaker {
 public:
  TapMaker(const Node& node) {
    const bool old = node.op_type == "Upsample" || node.opset < 11;
    kind_ = node.text("mode", "nearest");
    coordinates_ = old ? "asymmetric" : node.text("coordinate_transformation_mode", "half_pixel");
    rounding_ = old ? (node.op_type == "Upsample" ? "floor" : "simple")
                    : node.text("nearest_mode", "round_prefer_floor");
    cubic_a_ = node.real("cubic_coeff_a", -0.75F);
    exclude_outside_ = node.integer("exclude_outside", 0) != 0;
    antialias_ = node.integer("antialias", 0) != 0;
    if (kind_ == "bilinear" || kind_ == "trilinear") kind_ = "linear";
    if (kind_ != "nearest" && kind_ != "linear" && kind_ != "cubic") {
      fail_input(fmt::format("mode '{}' is not known", kind_));
    }
  }

  [[nodiscard]] ResizeTaps taps(const Axis& axis, std::int64_t x) const {
    ResizeTaps result;
    if (axis.input == axis.output && axis.scale == 1 && coordinates_ != "tf_crop_and_resize") {
      result.first = x;
      result.weights = {1};
      return result;
    }
    float at = source_coordinate(coordinates_, axis, x);
    if (coordinates_ == "tf_crop_and_resize" &&
        (at < 0 || at > static_cast<float>(axis.input - 1))) {
      result.outside = true;
    }
    if (kind_ == "nearest") {
      result.first =
          std::clamp<std::int64_t>(nearest(rounding_, at, axis.scale), 0, axis.input - 1);
      result.weights = {1};
      return result;
    }
    const float stretch = antialias_ && axis.scale < 1 ? axis.scale : 1.0F;
    const float radius = (kind_ == "linear" ? 1.0F : 2.0F) / stretch;
    if (kind_ == "linear" && !antialias_) {
      at = std::clamp(at, 0.0F, static_cast<float>(axis.input - 1));
      const auto low = static_cast<std::int64_t>(at);
      const float fraction = at - static_cast<float>(low);
      result.first = low;
      result.weights = {1 - fraction};
      if (low + 1 < axis.input) result.weights.push_back(fraction);
      return result;
    }
    const auto low = static_cast<std::int64_t>(std::floor(at - radius)) + 1;
    const auto high = static_cast<std::int64_t>(std::ceil(at + radius)) - 1;
    std::vector<float> weights(static_cast<std::size_t>(axis.input), 0.0F);
    float sum = 0;
    for (std::int64_t position = low; position <= high; ++position) {
      const bool inside = position >= 0 && position < axis.input;
      if (!inside && (exclude_outside_ || antialias_)) continue;
      const float weight = kernel((static_cast<float>(position) - at) * stretch);
      sum += weight;
      weights[static_cast<std::size_t>(std::clamp<std::int64_t>(position, 0, axis.input - 1))] +=
          weight;
    }
    std::int64_t first = 0;
    std::int64_t last = axis.input - 1;
    while (first < last && weights[static_cast<std::size_t>(first)] == 0) ++first;
    while (last > first && weights[static_cast<std::size_t>(last)] == 0) --last;
    result.first = first;
    for (std::int64_t position = first; position <= last; ++position) {
      const float weight = weights[static_cast<std::size_t>(position)];
      result.weights.push_back(exclude_outside_ || antialias_ ? weight / sum : weight);
    }
    return result;
  }

 private:
  [[nodiscard]] float kernel(float x) const {
    x = std::abs(x);
    if (kind_ == "linear") return std::max(0.0F, 1 - x);
    if (x <= 1) return ((cubic_a_ + 2) * x - (cubic_a_ + 3)) * x * x + 1;
    if (x < 2) return ((cubic_a_ * x - 5 * cubic_a_) * x + 8 * cubic_a_) * x - 4 * cubic_a_;
    return 0;
  }

  std::string kind_;
  std::string coordinates_;
  std::string rounding_;
  float cubic_a_ = -0.75F;
  bool exclude_outside_ = false;
  bool antialias_ = false;
};

void run_resize(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const Request request = request_of(Present<RunContext>{context}, input.shape, RunValues{context});
  const TapMaker maker(context.node());
  const std::size_t rank = input.shape.rank();
  // Per axis and output position; axes are few and rows of taps short.
  std::vector<std::vector<ResizeTaps>> taps(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    for (std::int64_t x = 0; x < request.axes[axis].output; ++x) {
      taps[axis].push_back(maker.taps(request.axes[axis], x));
    }
  }
  std::array<std::int64_t, Shape::max_rank> strides{};
  std::int64_t stride = 1;
  for (std::size_t axis = rank; axis-- > 0;) {
    strides[axis] = stride;
    stride *= input.shape[axis];
  }
  const float outside_value = context.node().real("extrapolation_value", 0.0F);
  const Shape output = context.output(0).shape;
  dispatch(input.type, NumericTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    const T* x = input.as<T>();
    T* y = context.output(0).as<T>();
    context.threads().parallel_for(
        output.elements(), 1024, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t index = begin; index < end; ++index) {
            std::array<const ResizeTaps*, Shape::max_rank> own{};
            std::int64_t rest = index;
            std::int64_t base = 0;
            std::int64_t combinations = 1;
            bool outside = false;
            for (std::size_t axis = rank; axis-- > 0;) {
              own[axis] = &taps[axis][static_cast<std::size_t>(rest % output[axis])];
              rest /= output[axis];
              base += own[axis]->first * strides[axis];
              combinations *= static_cast<std::int64_t>(own[axis]->weights.size());
              outside = outside || own[axis]->outside;
            }
            if (outside) {
              y[index] = narrow<T>(static_cast<Arithmetic<T>>(outside_value));
              continue;
            }
            if (combinations == 1) {
              y[index] = x[base];
              continue;
            }
            Arithmetic<T> sum = 0;
            for (std::int64_t combination = 0; combination < combinations; ++combination) {
              std::int64_t left = combination;
              std::int64_t offset = base;
              Arithmetic<T> weight = 1;
              for (std::size_t axis = rank; axis-- > 0;) {
                const auto size = static_cast<std::int64_t>(own[axis]->weights.size());
                weight *= static_cast<Arithmetic<T>>(
                    own[axis]->weights[static_cast<std::size_t>(left % size)]);
                offset += left % size * strides[axis];
                left /= size;
              }
              sum += weight * widen(x[offset]);
            }
            y[index] = narrow<T>(sum);
          }
        });
  });
}

/// Inputs of a planned node, as request_of wants them.
struct PlannedNode {
  Program& program;
  const ProgramNode& planned;
  [[nodiscard]] const Node& node() const { return *planned.definition; }
  [[nodiscard]] bool has_input(std::size_t index) const {
    return index < planned.inputs.size() && planned.inputs[index] != no_value &&
           program.values[planned.inputs[index]].type.shape.elements() != 0;
  }
};
struct PlannedValues {
  Program& program;
  const ProgramNode& planned;
  [[nodiscard]] std::vector<float> floats(std::size_t i) const {
    return read_floats(known_value(program, planned.inputs[i]).value());
  }
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t i) const {
    return read_integers(known_value(program, planned.inputs[i]).value());
  }
};

}  // namespace

std::optional<std::array<std::vector<ResizeTaps>, 4>> resize_taps(Program& program,
                                                                  const ProgramNode& node) {
  for (std::size_t index = 1; index < node.inputs.size(); ++index) {
    if (node.inputs[index] != no_value && !known_value(program, node.inputs[index])) {
      return std::nullopt;
    }
  }
  const Request request =
      request_of(PlannedNode{program, node}, program.values[node.inputs[0]].type.shape,
                 PlannedValues{program, node});
  const TapMaker maker(*node.definition);
  std::array<std::vector<ResizeTaps>, 4> taps;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const Axis& own = request.axes[axis];
    if (axis < 2 && (own.input != own.output || own.scale != 1)) return std::nullopt;
    for (std::int64_t x = 0; x < own.output; ++x) {
      taps[axis].push_back(maker.taps(own, x));
      if (taps[axis].back().outside) return std::nullopt;
    }
  }
  return taps;
}

void register_resizing(OperatorTable& table) {
  table.add({.name = "Resize", .since_version = 10, .infer = infer_resize, .run = run_resize});
  table.add({.name = "Upsample", .since_version = 7, .infer = infer_resize, .run = run_resize});
}

}  // namespace plimsoll::tensor
