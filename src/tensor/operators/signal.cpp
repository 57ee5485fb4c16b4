// DFT and STFT. Semantics: ONNX Operators.md. A complex number is two elements of the last
// dimension, a real one is one.
#include "tensor/operators/signal.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/operators/axis_rows.h"
#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/fourier.h"

namespace plimsoll::tensor {
namespace {

std::size_t number_bytes(ElementType type) {
  return type == ElementType::f64 ? sizeof(double) : sizeof(float);
}

std::int64_t only_integer(const std::vector<std::int64_t>& values, std::string_view what) {
  if (values.size() != 1) fail_input(fmt::format("{} is not one number", what));
  return values[0];
}

// --- DFT ----------------------------------------------------------------------------------------

struct DftShape {
  std::size_t axis = 1;
  std::int64_t length = 0;
  std::int64_t parts = 2;      ///< elements of an input number
  std::int64_t out_parts = 2;  ///< elements of an output number
  std::int64_t out_size = 0;   ///< along the axis
  bool inverse = false;
  bool onesided = false;
};

/// `integer(i)` reads input i.
template <typename Context, typename Integer>
DftShape dft_shape(const Context& context, const Shape& input, const Integer& integer) {
  const Node& node = context.node();
  if (input.rank() < 2 || (input.back() != 1 && input.back() != 2)) {
    fail_input(
        fmt::format("input 0 of shape {} does not end with a dimension of 1 (real) or 2 (complex)",
                    input.to_string()));
  }
  DftShape shape;
  shape.parts = input.back();
  shape.inverse = node.integer("inverse", 0) != 0;
  shape.onesided = node.integer("onesided", 0) != 0;
  std::int64_t axis = node.integer("axis", 1);
  if (node.opset >= 20) axis = context.has_input(2) ? integer(2) : -2;
  shape.axis = normalize_axis(axis, input.rank());
  if (shape.axis + 1 == input.rank()) fail_input("the last dimension cannot be the axis");
  const bool half_given = shape.onesided && shape.inverse;
  if (shape.onesided && (shape.parts == 2) != shape.inverse) {
    fail_input(shape.inverse ? "a one-sided inverse transform needs complex numbers"
                             : "a one-sided transform needs real numbers");
  }
  const std::int64_t size = input[shape.axis];
  if (context.has_input(1)) {
    shape.length = integer(1);
  } else {
    shape.length = half_given ? 2 * (size - 1) : size;
  }
  if (shape.length < 1) {
    fail_input(fmt::format("a Fourier transform of length {} is out of range", shape.length));
  }
  shape.out_parts = half_given ? 1 : 2;
  shape.out_size = shape.onesided && !shape.inverse ? shape.length / 2 + 1 : shape.length;
  return shape;
}

DftShape dft_shape(const InferContext& context) {
  return dft_shape(context, context.input(0).shape, [&](std::size_t index) {
    return only_integer(context.require_integers(index), fmt::format("input {}", index));
  });
}

void infer_dft(InferContext& context) {
  check_input_count(context, 1, context.node().opset >= 20 ? 3 : 2);
  const TensorType& input = check_type(context, 0, float_types);
  const DftShape shape = dft_shape(context);
  (void)FourierScratch(shape.length, 1, number_bytes(input.element));
  std::vector<std::int64_t> output = to_vector(input.shape);
  output[shape.axis] = shape.out_size;
  output.back() = shape.out_parts;
  context.set_output(0, input.element, Shape(output));
}

std::int64_t dft_rows(const DftShape& shape, const Shape& input) {
  return input.product(0, shape.axis) * input.product(shape.axis + 1, input.rank() - 1);
}

std::uint64_t dft_scratch(const InferContext& context) {
  const DftShape shape = dft_shape(context);
  return FourierScratch(shape.length, dft_rows(shape, context.input(0).shape),
                        number_bytes(context.input(0).element))
      .bytes;
}

void run_dft(RunContext& context) {
  const Shape& input = context.input(0).shape;
  const DftShape shape = dft_shape(context, input, [&](std::size_t index) {
    return only_integer(read_integers(context.input(index)), fmt::format("input {}", index));
  });
  const std::int64_t inner = input.product(shape.axis + 1, input.rank() - 1);
  const std::int64_t size = input[shape.axis];
  // What of a row is read: the rest of the length is zeros, or the mirror image of a half.
  const std::int64_t whole = shape.onesided && shape.inverse ? shape.length / 2 + 1 : shape.length;
  const std::int64_t given = std::min(size, whole);
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using C = Compute<T>;
    const T* x = context.input(0).as<T>();
    T* y = context.output(0).as<T>();
    const auto read = [&](std::int64_t row, C* real, C* imaginary) {
      const T* from = x + (row / inner * size * inner + row % inner) * shape.parts;
      for (std::int64_t i = 0; i < given; ++i) {
        const T* number = from + i * inner * shape.parts;
        real[i] = load(number[0]);
        imaginary[i] = shape.parts == 2 ? load(number[1]) : C{0};
      }
      std::fill(real + given, real + shape.length, C{0});
      std::fill(imaginary + given, imaginary + shape.length, C{0});
      if (whole == shape.length) return;
      for (std::int64_t i = 1; i < given && shape.length - i > i; ++i) {
        real[shape.length - i] = real[i];
        imaginary[shape.length - i] = -imaginary[i];
      }
    };
    const auto write = [&](std::int64_t row, const C* real, const C* imaginary) {
      T* to = y + (row / inner * shape.out_size * inner + row % inner) * shape.out_parts;
      for (std::int64_t i = 0; i < shape.out_size; ++i) {
        T* number = to + i * inner * shape.out_parts;
        number[0] = store<T>(real[i]);
        if (shape.out_parts == 2) number[1] = store<T>(imaginary[i]);
      }
    };
    transform_rows(context.threads(), dft_rows(shape, input), shape.length, shape.inverse,
                   reinterpret_cast<C*>(context.scratch().data()), read, write);
  });
}

// --- STFT ---------------------------------------------------------------------------------------

struct StftShape {
  std::int64_t batch = 0;
  std::int64_t samples = 0;
  std::int64_t parts = 1;
  std::int64_t step = 1;
  std::int64_t length = 0;
  std::int64_t frames = 0;
  std::int64_t bins = 0;
};

template <typename Context, typename Integer>
StftShape stft_shape(const Context& context, const Shape& signal, const Shape* window,
                     const Integer& integer) {
  StftShape shape;
  if (signal.rank() == 3 && (signal[2] == 1 || signal[2] == 2)) {
    shape.parts = signal[2];
  } else if (signal.rank() != 2) {
    fail_input(fmt::format("a signal of shape {} is not batch×samples×1 or batch×samples×2",
                           signal.to_string()));
  }
  shape.batch = signal[0];
  shape.samples = signal[1];
  shape.step = integer(1);
  shape.length = window != nullptr ? (*window)[0] : shape.samples;
  if (context.has_input(3)) {
    const std::int64_t length = integer(3);
    if (window != nullptr && length != shape.length) {
      fail_input(fmt::format("a window of {} does not fit frames of {}", shape.length, length));
    }
    shape.length = length;
  }
  if (shape.step < 1) fail_input(fmt::format("a frame step of {} is not positive", shape.step));
  if (shape.length < 1 || shape.length > shape.samples) {
    fail_input(
        fmt::format("frames of {} do not fit a signal of {} samples", shape.length, shape.samples));
  }
  shape.frames = (shape.samples - shape.length) / shape.step + 1;
  const bool onesided = context.node().integer("onesided", 1) != 0;
  if (onesided && shape.parts == 2) {
    fail_input("a one-sided transform needs a real signal; set attribute 'onesided' to 0");
  }
  shape.bins = onesided ? shape.length / 2 + 1 : shape.length;
  return shape;
}

StftShape stft_shape(const InferContext& context) {
  const Shape* window = context.has_input(2) ? &context.input(2).shape : nullptr;
  return stft_shape(context, context.input(0).shape, window, [&](std::size_t index) {
    return only_integer(context.require_integers(index), fmt::format("input {}", index));
  });
}

void infer_stft(InferContext& context) {
  check_input_count(context, 2, 4);
  const TensorType& signal = check_type(context, 0, float_types);
  if (context.has_input(2)) {
    check_same_type(context, 0, 2);
    check_rank(context, 2, 1, 1);
  }
  const StftShape shape = stft_shape(context);
  (void)FourierScratch(shape.length, 1, number_bytes(signal.element));
  context.set_output(0, signal.element, {shape.batch, shape.frames, shape.bins, 2});
}

std::uint64_t stft_scratch(const InferContext& context) {
  const StftShape shape = stft_shape(context);
  return FourierScratch(shape.length, checked_product(shape.batch, shape.frames, "frames"),
                        number_bytes(context.input(0).element))
      .bytes;
}

void run_stft(RunContext& context) {
  const ConstTensorView window_view = context.has_input(2) ? context.input(2) : ConstTensorView{};
  const StftShape shape = stft_shape(
      context, context.input(0).shape, context.has_input(2) ? &window_view.shape : nullptr,
      [&](std::size_t index) {
        return only_integer(read_integers(context.input(index)), fmt::format("input {}", index));
      });
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using C = Compute<T>;
    const T* signal = context.input(0).as<T>();
    const T* window = context.has_input(2) ? window_view.as<T>() : nullptr;
    T* y = context.output(0).as<T>();
    const auto read = [&](std::int64_t row, C* real, C* imaginary) {
      const std::int64_t first =
          row / shape.frames * shape.samples + row % shape.frames * shape.step;
      const T* from = signal + first * shape.parts;
      for (std::int64_t i = 0; i < shape.length; ++i) {
        const C weight = window == nullptr ? C{1} : load(window[i]);
        real[i] = load(from[i * shape.parts]) * weight;
        imaginary[i] = shape.parts == 2 ? load(from[i * 2 + 1]) * weight : C{0};
      }
    };
    const auto write = [&](std::int64_t row, const C* real, const C* imaginary) {
      T* to = y + row * shape.bins * 2;
      for (std::int64_t i = 0; i < shape.bins; ++i) {
        to[2 * i] = store<T>(real[i]);
        to[2 * i + 1] = store<T>(imaginary[i]);
      }
    };
    transform_rows(context.threads(), shape.batch * shape.frames, shape.length, false,
                   reinterpret_cast<C*>(context.scratch().data()), read, write);
  });
}

}  // namespace

void register_signal(OperatorTable& table) {
  table.add({.name = "DFT",
             .since_version = 17,
             .infer = infer_dft,
             .run = run_dft,
             .scratch = dft_scratch});
  table.add({.name = "STFT",
             .since_version = 17,
             .infer = infer_stft,
             .run = run_stft,
             .scratch = stft_scratch});
  register_windows(table);
}

}  // namespace plimsoll::tensor
