// Normalisations and softmaxes. Semantics: ONNX Operators.md; statistics in f32 (f64 for f64).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/number.h"

namespace plimsoll::tensor {
namespace {

// --- BatchNormalization -------------------------------------------------------------------------

void infer_batch_normalization(InferContext& context) {
  check_input_count(context, 5, 5);
  const TensorType& input = check_type(context, 0, float_types);
  if (input.shape.rank() < 2) fail_input("input 0 needs at least two dimensions");
  for (std::size_t index = 1; index < 5; ++index) {
    check_type(context, index, float_types);
    if (context.input(index).shape != Shape{input.shape[1]}) {
      fail_input(fmt::format("input {} has shape {}, one value for each of {} channels is needed",
                             index, context.input(index).shape.to_string(), input.shape[1]));
    }
  }
  context.set_output(0, input.element, input.shape);
  if (context.node().integer("training_mode", 0) != 0) {
    context.set_output(1, context.input(3).element, context.input(3).shape);
    context.set_output(2, context.input(4).element, context.input(4).shape);
  } else if (context.has_output(1)) {
    fail_unsupported("batch normalisation with statistics as outputs needs training_mode");
  }
}

double at(const ConstTensorView& view, std::int64_t index) {
  double value = 0;
  dispatch(view.type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    value = static_cast<double>(widen(view.as<T>()[index]));
  });
  return value;
}

void put(const TensorView& view, std::int64_t index, double value) {
  dispatch(view.type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    view.as<T>()[index] = narrow<T>(static_cast<Arithmetic<T>>(value));
  });
}

void run_batch_normalization(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const double epsilon = static_cast<double>(context.node().real("epsilon", 1e-5F));
  const bool training = context.node().integer("training_mode", 0) != 0;
  const double momentum = static_cast<double>(context.node().real("momentum", 0.9F));
  const std::int64_t channels = input.shape[1];
  const std::int64_t inner = input.shape.product(2, input.shape.rank());
  const std::int64_t batch = input.shape[0];
  dispatch(input.type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    const T* x = input.as<T>();
    T* y = context.output(0).as<T>();
    context.threads().parallel_for(channels, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t c = begin; c < end; ++c) {
        double mean = at(context.input(3), c);
        double variance = at(context.input(4), c);
        if (training) {
          double sum = 0;
          double squares = 0;
          for (std::int64_t n = 0; n < batch; ++n) {
            for (std::int64_t i = 0; i < inner; ++i) {
              sum += static_cast<double>(widen(x[(n * channels + c) * inner + i]));
            }
          }
          const double own_mean = sum / static_cast<double>(batch * inner);
          for (std::int64_t n = 0; n < batch; ++n) {
            for (std::int64_t i = 0; i < inner; ++i) {
              const double d =
                  static_cast<double>(widen(x[(n * channels + c) * inner + i])) - own_mean;
              squares += d * d;
            }
          }
          const double own_variance = squares / static_cast<double>(batch * inner);
          if (context.has_output(1)) {
            put(context.output(1), c, mean * momentum + own_mean * (1 - momentum));
          }
          if (context.has_output(2)) {
            put(context.output(2), c, variance * momentum + own_variance * (1 - momentum));
          }
          mean = own_mean;
          variance = own_variance;
        }
        const double scale = at(context.input(1), c) / std::sqrt(variance + epsilon);
        const auto factor = static_cast<Arithmetic<T>>(scale);
        const auto shift = static_cast<Arithmetic<T>>(at(context.input(2), c) - mean * scale);
        for (std::int64_t n = 0; n < batch; ++n) {
          for (std::int64_t i = 0; i < inner; ++i) {
            const std::int64_t index = (n * channels + c) * inner + i;
            y[index] = narrow<T>(widen(x[index]) * factor + shift);
          }
        }
      }
    });
  });
}

// --- rows normalised to mean 0 and variance 1 ---------------------------------------------------

template <typename T>
struct Moments {
  T mean;
  T inverse_deviation;
};

template <typename T>
Moments<Arithmetic<T>> moments(const T* row, std::int64_t size, Arithmetic<T> epsilon) {
  Arithmetic<T> sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += widen(row[i]);
  const Arithmetic<T> mean = sum / static_cast<Arithmetic<T>>(size);
  Arithmetic<T> squares = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const Arithmetic<T> d = widen(row[i]) - mean;
    squares += d * d;
  }
  return {mean, 1 / std::sqrt(squares / static_cast<Arithmetic<T>>(size) + epsilon)};
}

void infer_instance_normalization(InferContext& context) {
  check_input_count(context, 3, 3);
  const TensorType& input = check_type(context, 0, float_types);
  if (input.shape.rank() < 3) fail_input("input 0 needs at least three dimensions");
  for (std::size_t index : {std::size_t{1}, std::size_t{2}}) {
    check_same_type(context, 0, index);
    if (context.input(index).shape != Shape{input.shape[1]}) {
      fail_input(fmt::format("input {} needs one value for each channel", index));
    }
  }
  context.set_output(0, input.element, input.shape);
}

void run_instance_normalization(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const std::int64_t size = input.shape.product(2, input.shape.rank());
  const std::int64_t channels = input.shape[1];
  dispatch(input.type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    const T* x = input.as<T>();
    const T* scale = context.input(1).as<T>();
    const T* shift = context.input(2).as<T>();
    T* y = context.output(0).as<T>();
    const auto epsilon = static_cast<Arithmetic<T>>(context.node().real("epsilon", 1e-5F));
    context.threads().parallel_for(
        input.shape[0] * channels, 1, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t plane = begin; plane < end; ++plane) {
            const auto m = moments(x + plane * size, size, epsilon);
            for (std::int64_t i = 0; i < size; ++i) {
              y[plane * size + i] =
                  narrow<T>((widen(x[plane * size + i]) - m.mean) * m.inverse_deviation *
                                widen(scale[plane % channels]) +
                            widen(shift[plane % channels]));
            }
          }
        });
  });
}

std::size_t layer_axis(const Node& node, const Shape& shape) {
  return normalize_axis(node.integer("axis", -1), shape.rank());
}

void infer_layer_normalization(InferContext& context) {
  check_input_count(context, 2, 3);
  const TensorType& input = check_type(context, 0, float_types);
  const std::size_t axis = layer_axis(context.node(), input.shape);
  const std::int64_t size = input.shape.product(axis, input.shape.rank());
  for (std::size_t index = 1; index < context.input_count(); ++index) {
    if (!context.has_input(index)) continue;
    check_same_type(context, 0, index);
    const std::int64_t count = context.input(index).shape.elements();
    if (count != size && count != 1) {
      fail_input(fmt::format("input {} of shape {} does not fit the {} normalised elements", index,
                             context.input(index).shape.to_string(), size));
    }
  }
  std::vector<std::int64_t> reduced = to_vector(input.shape);
  for (std::size_t i = axis; i < reduced.size(); ++i) reduced[i] = 1;
  const ElementType statistics =
      input.element == ElementType::f64 ? ElementType::f64 : ElementType::f32;
  context.set_output(0, input.element, input.shape);
  context.set_output(1, statistics, Shape(reduced));
  context.set_output(2, statistics, Shape(reduced));
}

void run_layer_normalization(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const std::size_t axis = layer_axis(context.node(), input.shape);
  const std::int64_t rows = input.shape.product(0, axis);
  const std::int64_t size = input.shape.product(axis, input.shape.rank());
  dispatch(input.type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using A = Arithmetic<T>;
    const T* x = input.as<T>();
    const T* scale = context.input(1).as<T>();
    const std::int64_t scale_step = context.input(1).elements() == 1 ? 0 : 1;
    const T* shift = context.has_input(2) ? context.input(2).as<T>() : nullptr;
    const std::int64_t shift_step = shift != nullptr && context.input(2).elements() == 1 ? 0 : 1;
    T* y = context.output(0).as<T>();
    A* means = context.has_output(1) ? context.output(1).template as<A>() : nullptr;
    A* deviations = context.has_output(2) ? context.output(2).template as<A>() : nullptr;
    const auto epsilon = static_cast<A>(context.node().real("epsilon", 1e-5F));
    context.threads().parallel_for(rows, 4, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t row = begin; row < end; ++row) {
        const auto m = moments(x + row * size, size, epsilon);
        if (means != nullptr) means[row] = m.mean;
        if (deviations != nullptr) deviations[row] = m.inverse_deviation;
        for (std::int64_t i = 0; i < size; ++i) {
          A value = (widen(x[row * size + i]) - m.mean) * m.inverse_deviation;
          value *= widen(scale[i * scale_step]);
          if (shift != nullptr) value += widen(shift[i * shift_step]);
          y[row * size + i] = narrow<T>(value);
        }
      }
    });
  });
}

// --- softmaxes
// ------------------------------------------------------------------------------------

enum class Softness : std::uint8_t { softmax, log_softmax, hardmax };

/// Before opset 13 everything from the axis on is one row; since then the axis alone.
struct Rows {
  std::int64_t outer;
  std::int64_t size;
  std::int64_t inner;
};
Rows softmax_rows(const Node& node, const Shape& shape) {
  const bool flat = node.opset < 13;
  if (shape.rank() == 0) return {1, 1, 1};
  const std::int64_t given = node.integer("axis", flat ? 1 : -1);
  if (flat && given == static_cast<std::int64_t>(shape.rank())) return {shape.elements(), 1, 1};
  const std::size_t axis = normalize_axis(given, shape.rank());
  if (flat) return {shape.product(0, axis), shape.product(axis, shape.rank()), 1};
  return {shape.product(0, axis), shape[axis], shape.product(axis + 1, shape.rank())};
}

void infer_softmax(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& input = check_type(context, 0, float_types);
  (void)softmax_rows(context.node(), input.shape);
  context.set_output(0, input.element, input.shape);
}

template <Softness kind>
void run_softmax(RunContext& context) {
  const Rows rows = softmax_rows(context.node(), context.input(0).shape);
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using A = Arithmetic<T>;
    const T* x = context.input(0).as<T>();
    T* y = context.output(0).as<T>();
    context.threads().parallel_for(
        rows.outer * rows.inner, 1, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t start = row / rows.inner * rows.size * rows.inner + row % rows.inner;
            const auto index = [&](std::int64_t i) { return start + i * rows.inner; };
            if (rows.size == 0) continue;
            A largest = widen(x[index(0)]);
            std::int64_t where = 0;
            for (std::int64_t i = 1; i < rows.size; ++i) {
              if (widen(x[index(i)]) > largest) {
                largest = widen(x[index(i)]);
                where = i;
              }
            }
            if constexpr (kind == Softness::hardmax) {
              for (std::int64_t i = 0; i < rows.size; ++i) {
                y[index(i)] = narrow<T>(i == where ? A{1} : A{0});
              }
              continue;
            }
            A sum = 0;
            for (std::int64_t i = 0; i < rows.size; ++i) {
              const A value = std::exp(widen(x[index(i)]) - largest);
              sum += value;
              if constexpr (kind == Softness::softmax) y[index(i)] = narrow<T>(value);
            }
            if constexpr (kind == Softness::softmax) {
              const A scale = 1 / sum;
              for (std::int64_t i = 0; i < rows.size; ++i) {
                y[index(i)] = narrow<T>(widen(y[index(i)]) * scale);
              }
            } else {
              // In this order: largest + log(sum) would lose the digits of log(sum) for large
              // inputs.
              const A shift = std::log(sum);
              for (std::int64_t i = 0; i < rows.size; ++i) {
                y[index(i)] = narrow<T>(widen(x[index(i)]) - largest - shift);
              }
            }
          }
        });
  });
}

// --- LRN
// ------------------------------------------------------------------------------------------

void infer_lrn(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& input = check_type(context, 0, float_types);
  if (input.shape.rank() < 2) fail_input("input 0 needs at least two dimensions");
  if (context.node().integer("size") < 1) fail_input("attribute 'size' must be positive");
  context.set_output(0, input.element, input.shape);
}

void run_lrn(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const std::int64_t size = context.node().integer("size");
  const float alpha = context.node().real("alpha", 1e-4F);
  const float beta = context.node().real("beta", 0.75F);
  const float bias = context.node().real("bias", 1.0F);
  const std::int64_t channels = input.shape[1];
  const std::int64_t inner = input.shape.product(2, input.shape.rank());
  dispatch(input.type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    const T* x = input.as<T>();
    T* y = context.output(0).as<T>();
    context.threads().parallel_for(
        input.shape[0] * channels, 1, [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t plane = begin; plane < end; ++plane) {
            const std::int64_t c = plane % channels;
            const std::int64_t first = std::max<std::int64_t>(0, c - (size - 1) / 2);
            const std::int64_t last = std::min(channels - 1, c + size / 2);
            for (std::int64_t i = 0; i < inner; ++i) {
              Arithmetic<T> squares = 0;
              for (std::int64_t other = first; other <= last; ++other) {
                const auto value = widen(x[(plane - c + other) * inner + i]);
                squares += value * value;
              }
              const auto scale = static_cast<Arithmetic<T>>(
                  std::pow(bias + alpha / static_cast<float>(size) * squares, beta));
              y[plane * inner + i] = narrow<T>(widen(x[plane * inner + i]) / scale);
            }
          }
        });
  });
}

}  // namespace

void register_normalization(OperatorTable& table) {
  table.add({.name = "BatchNormalization",
             .infer = infer_batch_normalization,
             .run = run_batch_normalization});
  table.add({.name = "InstanceNormalization",
             .infer = infer_instance_normalization,
             .run = run_instance_normalization});
  table.add({.name = "LayerNormalization",
             .infer = infer_layer_normalization,
             .run = run_layer_normalization});
  table.add({.name = "Softmax", .infer = infer_softmax, .run = run_softmax<Softness::softmax>});
  table.add(
      {.name = "LogSoftmax", .infer = infer_softmax, .run = run_softmax<Softness::log_softmax>});
  table.add({.name = "Hardmax", .infer = infer_softmax, .run = run_softmax<Softness::hardmax>});
  table.add({.name = "LRN", .infer = infer_lrn, .run = run_lrn});
}

}  // namespace plimsoll::tensor
