// Add, Sub, Mul, Div, Mod, PRelu and Where.
#include "tensor/operators/elementwise_binary.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "tensor/operators/families.h"
#include "tensor/operators/integer_math.h"

namespace plimsoll::tensor {
namespace {

struct Add {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return wrapping_add(a, b);
    } else {
      return a + b;
    }
  }
};
struct Sub {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return wrapping_subtract(a, b);
    } else {
      return a - b;
    }
  }
};
struct Mul {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return wrapping_multiply(a, b);
    } else {
      return a * b;
    }
  }
};
struct Div {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return defined_divide(a, b);
    } else {
      return a / b;
    }
  }
};

/// fmod 0: the divisor's sign, integers only; fmod 1: C's fmod, the dividend's sign.
struct Mod {
  explicit Mod(const Node& node) : like_c(node.integer("fmod", 0) != 0) {}
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_integral_v<C>) {
      return like_c ? defined_remainder(a, b) : defined_modulo(a, b);
    } else {
      return std::fmod(a, b);
    }
  }
  bool like_c;
};

void infer_mod(InferContext& context) {
  infer_binary<NumericTypes, void>(context);
  if (is_floating(context.input(0).element) && context.node().integer("fmod", 0) == 0) {
    fail_input("attribute 'fmod' must be 1 for floating point numbers");
  }
}

struct PRelu {
  template <typename C>
  C operator()(C x, C slope) const {
    if constexpr (std::is_integral_v<C>) {
      return x < C{0} ? wrapping_multiply(x, slope) : x;
    } else {
      return x < C{0} ? x * slope : x;
    }
  }
};

/// From version 7 the slope broadcasts to X by the common rule. Before, it has one element or one
/// for each channel (dimension 1).
Shape slope_shape(const Node& node, const Shape& x, const Shape& slope) {
  if (node.opset >= 7 || slope.rank() != 1 || x.rank() < 3) return slope;
  std::vector<std::int64_t> aligned(x.rank() - 1, 1);
  aligned[0] = slope[0];
  return Shape(aligned);
}

void infer_prelu(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& x = check_type(context, 0, numeric_types);
  check_same_type(context, 0, 1);
  check_broadcasts_to(slope_shape(context.node(), x.shape, context.input(1).shape), x.shape);
  infer_same(context);
}

void run_prelu(RunContext& context) {
  const ConstTensorView x = context.input(0);
  const ConstTensorView slope = context.input(1);
  const TensorView output = context.output(0);
  const Shape shape = slope_shape(context.node(), x.shape, slope.shape);
  dispatch(x.type, NumericTypes{}, [&]<typename T>(Tag<T>) {
    map_pairs(context.threads(), x.as<T>(), x.shape, slope.as<T>(), shape, output.as<T>(),
              output.shape, PRelu{});
  });
}

void infer_where(InferContext& context) {
  check_input_count(context, 3, 3);
  const TensorType& condition = check_type(context, 0, boolean_type);
  const TensorType& x = check_type(context, 1, all_types);
  check_same_type(context, 1, 2);
  const Shape values = broadcast_shape(x.shape, context.input(2).shape);
  context.set_output(0, x.element, broadcast_shape(condition.shape, values));
}

void run_where(RunContext& context) {
  const ConstTensorView condition = context.input(0);
  const ConstTensorView x = context.input(1);
  const ConstTensorView y = context.input(2);
  const TensorView output = context.output(0);
  const std::array<Shape, 3> shapes{condition.shape, x.shape, y.shape};
  const BroadcastLoop loop(output.shape, shapes);
  const std::int64_t condition_step = loop.step(0);
  const std::int64_t x_step = loop.step(1);
  const std::int64_t y_step = loop.step(2);
  dispatch_width(element_size(output.type), [&]<typename T>(Tag<T>) {
    const auto part = [&](std::int64_t offset, const BroadcastLoop::Offsets& offsets,
                          std::int64_t length) {
      const auto* c = condition.as<std::uint8_t>() + offsets[0];
      const T* a = x.as<T>() + offsets[1];
      const T* b = y.as<T>() + offsets[2];
      T* result = output.as<T>() + offset;
      if (condition_step == 0) {
        const bool first = *c != 0;
        const T* source = first ? a : b;
        const std::int64_t step = first ? x_step : y_step;
        for (std::int64_t i = 0; i < length; ++i) result[i] = source[i * step];
      } else {
        PLIMSOLL_INDEPENDENT_LOOP
        for (std::int64_t i = 0; i < length; ++i) {
          const T from_x = a[i * x_step];
          const T from_y = b[i * y_step];
          result[i] = c[i] != 0 ? from_x : from_y;
        }
      }
    };
    context.threads().parallel_for(
        output.elements(), elementwise_grain,
        [&](std::int64_t begin, std::int64_t end, int /*thread*/) { loop.run(begin, end, part); });
  });
}

}  // namespace

void register_arithmetic(OperatorTable& table) {
  add_binary<Add, NumericTypes>(table, "Add", {1, 6, 7, 13, 14});
  add_binary<Sub, NumericTypes>(table, "Sub", {1, 6, 7, 13, 14});
  add_binary<Mul, NumericTypes>(table, "Mul", {1, 6, 7, 13, 14});
  add_binary<Div, NumericTypes>(table, "Div", {1, 6, 7, 13, 14});
  for (int version : {10, 13}) {
    table.add({.name = "Mod",
               .since_version = version,
               .infer = infer_mod,
               .run = run_binary<Mod, NumericTypes, void>,
               .in_place_input = 0});
  }
  for (int version : {1, 6, 7, 9, 16}) {
    table.add({.name = "PRelu",
               .since_version = version,
               .infer = infer_prelu,
               .run = run_prelu,
               .in_place_input = 0});
  }
  for (int version : {9, 16}) {
    table.add({.name = "Where",
               .since_version = version,
               .infer = infer_where,
               .run = run_where,
               .in_place_input = 1});
  }
}

void register_elementwise_binary(OperatorTable& table) {
  register_arithmetic(table);
  register_comparisons(table);
  register_bitwise(table);
  register_variadic(table);
  register_power(table);
}

}  // namespace plimsoll::tensor
