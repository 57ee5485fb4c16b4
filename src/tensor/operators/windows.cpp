// HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix. Semantics: ONNX Operators.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tensor/operators/checks.h"
#include "tensor/operators/signal.h"

namespace plimsoll::tensor {
namespace {

std::int64_t only_integer(const InferContext& context, std::size_t index) {
  check_type(context, index, index_types);
  check_scalar(context, index);
  return context.require_integers(index)[0];
}

ElementType output_type(const Node& node) {
  const ElementType type = element_attribute(node, "output_datatype", ElementType::f32);
  if (!numeric_types.contains(type)) {
    fail_input(
        fmt::format("attribute 'output_datatype' is {}, which is no number", element_name(type)));
  }
  return type;
}

void infer_window(InferContext& context) {
  check_input_count(context, 1, 1);
  const std::int64_t size = only_integer(context, 0);
  if (size < 0) fail_input(fmt::format("a window of {} elements", size));
  context.set_output(0, output_type(context.node()), {size});
}

/// a − b·cos(2πn/N) + c·cos(4πn/N), where N is the size, or one less for a symmetric window.
struct CosineSum {
  double a;
  double b;
  double c;
};
constexpr CosineSum hann{0.5, 0.5, 0};
constexpr CosineSum hamming{25.0 / 46.0, 21.0 / 46.0, 0};
constexpr CosineSum blackman{0.42, 0.5, 0.08};

template <CosineSum window>
void run_window(RunContext& context) {
  const TensorView output = context.output(0);
  const std::int64_t size = output.elements();
  const bool periodic = context.node().integer("periodic", 1) != 0;
  const auto period = static_cast<double>(periodic ? size : std::max<std::int64_t>(1, size - 1));
  dispatch(output.type, NumericTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    T* y = output.as<T>();
    for (std::int64_t n = 0; n < size; ++n) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(n) / period;
      const double value = window.a - window.b * std::cos(angle) + window.c * std::cos(2 * angle);
      if constexpr (std::is_integral_v<T>) {
        y[n] = static_cast<T>(std::max(0.0, value));
      } else {
        y[n] = store<T>(value);
      }
    }
  });
}

void infer_mel(InferContext& context) {
  check_input_count(context, 5, 5);
  const std::int64_t bands = only_integer(context, 0);
  const std::int64_t length = only_integer(context, 1);
  check_type(context, 2, index_types);
  check_scalar(context, 2);
  for (std::size_t index : {std::size_t{3}, std::size_t{4}}) {
    check_type(context, index, float_types);
    check_scalar(context, index);
  }
  if (bands < 0 || length < 0) {
    fail_input(fmt::format("{} mel bands of a transform of length {}", bands, length));
  }
  context.set_output(0, output_type(context.node()), {length / 2 + 1, bands});
}

/// The spectrum's bin at which each band begins; band b reaches from edge b to edge b + 2 and peaks
/// at edge b + 1. Edges are equally spaced on the mel scale.
class MelEdges {
 public:
  MelEdges(const RunContext& context, std::int64_t bands)
      : length_(static_cast<double>(read_integers(context.input(1))[0])),
        rate_(static_cast<double>(read_integers(context.input(2))[0])),
        low_(mel(static_cast<double>(read_floats(context.input(3))[0]))),
        step_((mel(static_cast<double>(read_floats(context.input(4))[0])) - low_) /
              static_cast<double>(bands + 2)) {
    if (!(rate_ > 0) || !std::isfinite(low_) || !std::isfinite(step_)) {
      fail_input("the sample rate or the edge frequencies are out of range");
    }
  }
  [[nodiscard]] std::int64_t operator[](std::int64_t edge) const {
    const double hertz =
        700 * (std::pow(10.0, (low_ + step_ * static_cast<double>(edge)) / 2595) - 1);
    return static_cast<std::int64_t>(
        std::clamp(std::floor((length_ + 1) * hertz / rate_), -1e15, 1e15));
  }

 private:
  static double mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
  double length_;
  double rate_;
  double low_;
  double step_;
};

void run_mel(RunContext& context) {
  const TensorView output = context.output(0);
  const std::int64_t bins = output.shape[0];
  const std::int64_t bands = output.shape[1];
  const MelEdges edges(context, bands);
  dispatch(output.type, NumericTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    T* y = output.as<T>();
    std::fill_n(y, output.elements(), T{});
    const auto put = [&](std::int64_t bin, std::int64_t band, double value) {
      if constexpr (std::is_integral_v<T>) {
        y[bin * bands + band] = static_cast<T>(value);
      } else {
        y[bin * bands + band] = store<T>(value);
      }
    };
    for (std::int64_t band = 0; band < bands; ++band) {
      const std::int64_t left = edges[band];
      const std::int64_t centre = edges[band + 1];
      const std::int64_t right = edges[band + 2];
      for (std::int64_t bin = std::max<std::int64_t>(0, left); bin <= std::min(centre, bins - 1);
           ++bin) {
        put(bin, band,
            centre == left ? 1
                           : static_cast<double>(bin - left) / static_cast<double>(centre - left));
      }
      for (std::int64_t bin = std::max<std::int64_t>(0, centre); bin < std::min(right, bins);
           ++bin) {
        put(bin, band, static_cast<double>(right - bin) / static_cast<double>(right - centre));
      }
    }
  });
}

}  // namespace

void register_windows(OperatorTable& table) {
  table.add(
      {.name = "HannWindow", .since_version = 17, .infer = infer_window, .run = run_window<hann>});
  table.add({.name = "HammingWindow",
             .since_version = 17,
             .infer = infer_window,
             .run = run_window<hamming>});
  table.add({.name = "BlackmanWindow",
             .since_version = 17,
             .infer = infer_window,
             .run = run_window<blackman>});
  table.add({.name = "MelWeightMatrix", .since_version = 17, .infer = infer_mel, .run = run_mel});
}

}  // namespace plimsoll::tensor
