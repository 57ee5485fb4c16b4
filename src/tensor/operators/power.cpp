// Pow. The base and the exponent may have different element types (from version 12); the result has
// the base's.
#include <cmath>

#include "tensor/operators/elementwise_binary.h"
#include "tensor/operators/integer_math.h"

namespace plimsoll::tensor {
namespace {

using PowerTypes = decltype(FloatTypes{} + IntegerTypes{});

/// Elements that one thread takes at least; a pow costs some 20 ns.
constexpr std::int64_t power_grain = 1024;

/// An f32 base stays in f32, others with a floating operand go through f64.
template <typename B, typename E>
B power(B base, E exponent) {
  if constexpr (std::is_integral_v<B> && std::is_integral_v<E>) {
    return wrapping_power(base, static_cast<std::int64_t>(exponent));
  } else if constexpr (std::is_integral_v<B>) {
    return truncated<B>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  } else if constexpr (std::is_same_v<B, float> && sizeof(E) <= 4) {
    return std::pow(base, static_cast<float>(exponent));
  } else {
    return static_cast<B>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
}

/// The exponents that real models use are one number for the whole tensor, and need no pow.
template <typename T>
bool run_fixed_power(RunContext& context, double exponent) {
  using C = Compute<T>;
  const ConstTensorView base = context.input(0);
  const TensorView output = context.output(0);
  const auto map = [&](const auto& op) {
    map_elements(context.threads(), base.as<T>(), output.as<T>(), base.elements(), op);
    return true;
  };
  if (exponent == 1.0) return map([](C x) { return x; });
  if (exponent == 2.0) return map([](C x) { return x * x; });
  if (exponent == 3.0) return map([](C x) { return x * x * x; });
  if (exponent == -1.0) return map([](C x) { return C{1} / x; });
  // Where pow and sqrt differ: −∞, and −0, whose root keeps the sign. Adding 0 removes the sign.
  if (exponent == 0.5) {
    return map([](C x) {
      const C root = std::sqrt(x + C{0});
      return x == C(-INFINITY) ? C(INFINITY) : root;
    });
  }
  return false;
}

double first_value(const ConstTensorView& view) {
  double result = 0;
  dispatch(view.type, PowerTypes{},
           [&]<typename E>(Tag<E>) { result = static_cast<double>(load(*view.as<E>())); });
  return result;
}

void infer_power(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& base = check_type(context, 0, set_of(PowerTypes{}));
  const TensorType& exponent = check_type(context, 1, set_of(PowerTypes{}));
  if (context.node().opset < 12) check_same_type(context, 0, 1);
  context.set_output(0, base.element, pair_shape(context.node(), base.shape, exponent.shape));
}

void run_power(RunContext& context) {
  const ConstTensorView base = context.input(0);
  const ConstTensorView exponent = context.input(1);
  const TensorView output = context.output(0);
  const Shape exponent_shape = second_operand_shape(context.node(), base.shape, exponent.shape);
  if (exponent.elements() == 1 && base.shape == output.shape && is_floating(base.type)) {
    bool done = false;
    dispatch(base.type, FloatTypes{}, [&]<typename T>(Tag<T>) {
      done = run_fixed_power<T>(context, first_value(exponent));
    });
    if (done) return;
  }
  const std::array<Shape, 2> shapes{base.shape, exponent_shape};
  const BroadcastLoop loop(output.shape, shapes);
  const std::int64_t base_step = loop.step(0);
  const std::int64_t exponent_step = loop.step(1);
  dispatch(base.type, PowerTypes{}, [&]<typename B>(Tag<B>) {
    dispatch(exponent.type, PowerTypes{}, [&]<typename E>(Tag<E>) {
      // One loop for all kinds of broadcasting: pow is a call, so nothing would be gained by more.
      const auto part = [&](std::int64_t offset, const BroadcastLoop::Offsets& offsets,
                            std::int64_t length) {
        const B* x = base.as<B>() + offsets[0];
        const E* y = exponent.as<E>() + offsets[1];
        B* z = output.as<B>() + offset;
        for (std::int64_t i = 0; i < length; ++i) {
          z[i] = store<B>(power(load(x[i * base_step]), load(y[i * exponent_step])));
        }
      };
      context.threads().parallel_for(output.elements(), power_grain,
                                     [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
                                       loop.run(begin, end, part);
                                     });
    });
  });
}

}  // namespace

void register_power(OperatorTable& table) {
  for (int version : {1, 7, 12, 13, 15}) {
    table.add({.name = "Pow",
               .since_version = version,
               .infer = infer_power,
               .run = run_power,
               .in_place_input = 0});
  }
}

}  // namespace plimsoll::tensor
