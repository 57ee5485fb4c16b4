// Operators that make values: Constant, ConstantOfShape, Range, EyeLike. The random ones are in
// random_operators.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/integer_math.h"
#include "tensor/operators/random_operators.h"
#include "tensor/operators/strided_copy.h"

namespace plimsoll::tensor {
namespace {

/// What a Constant node holds. The importer turns Constants into stored values; this is for those
/// that a tool put into the graph later.
void infer_constant(InferContext& context) {
  const Node& node = context.node();
  check_input_count(context, 0, 0);
  const auto length = [](const auto& list) {
    return Shape{static_cast<std::int64_t>(list.size())};
  };
  if (node.attribute("value") != nullptr) {
    const auto tensor = node.tensor("value");
    context.set_output(0, tensor->type, tensor->shape);
  } else if (node.attribute("value_float") != nullptr) {
    context.set_output(0, ElementType::f32, Shape{});
  } else if (node.attribute("value_floats") != nullptr) {
    context.set_output(0, ElementType::f32, length(node.reals("value_floats")));
  } else if (node.attribute("value_int") != nullptr) {
    context.set_output(0, ElementType::i64, Shape{});
  } else if (node.attribute("value_ints") != nullptr) {
    context.set_output(0, ElementType::i64, length(node.integers("value_ints")));
  } else {
    fail_unsupported("a constant that is neither a tensor nor numbers");
  }
}

void run_constant(RunContext& context) {
  const Node& node = context.node();
  const TensorView output = context.output(0);
  if (node.attribute("value") != nullptr) {
    node.tensor("value")->read(0, output.elements(), output.data);
  } else if (node.attribute("value_float") != nullptr) {
    *output.as<float>() = node.real("value_float", 0.0F);
  } else if (node.attribute("value_floats") != nullptr) {
    std::ranges::copy(node.reals("value_floats"), output.as<float>());
  } else if (node.attribute("value_int") != nullptr) {
    *output.as<std::int64_t>() = node.integer("value_int");
  } else {
    std::ranges::copy(node.integers("value_ints"), output.as<std::int64_t>());
  }
}

void infer_constant_of_shape(InferContext& context) {
  check_input_count(context, 1, 1);
  check_type(context, 0, TypeSet{ElementType::i64});
  check_rank(context, 0, 1, 1);
  ElementType type = ElementType::f32;
  if (context.node().attribute("value") != nullptr) {
    const auto value = context.node().tensor("value");
    if (value->shape.elements() != 1) {
      fail_input(fmt::format("attribute 'value' has shape {}, one element is needed",
                             value->shape.to_string()));
    }
    type = value->type;
    if (!all_types.contains(type)) {
      fail_unsupported(fmt::format("elements of type {}", element_name(type)));
    }
  }
  context.set_output(0, type, Shape(context.require_integers(0)));
}

void run_constant_of_shape(RunContext& context) {
  const TensorView output = context.output(0);
  std::array<std::byte, 8> value{};
  if (context.node().attribute("value") != nullptr) {
    context.node().tensor("value")->read(0, 1, value.data());
  }
  fill_elements(context.threads(), element_size(output.type), value.data(), output.data,
                output.elements());
}

// Range

using RangeTypes =
    Types<float, double, Float16, BFloat16, std::int16_t, std::int32_t, std::int64_t>;

/// ⌈(limit − start) / delta⌉, at least 0.
template <typename C>
std::int64_t range_count(C start, C limit, C delta) {
  if (delta == C{0}) fail_input("a range with steps of 0");
  if constexpr (std::is_integral_v<C>) {
    if (delta > 0 ? limit <= start : limit >= start) return 0;
    const auto up = [](C from, C to) {
      return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    };
    const std::uint64_t distance = delta > 0 ? up(start, limit) : up(limit, start);
    const std::uint64_t step =
        delta > 0 ? static_cast<std::uint64_t>(delta) : -static_cast<std::uint64_t>(delta);
    const std::uint64_t count = distance / step + (distance % step != 0 ? 1 : 0);
    return static_cast<std::int64_t>(std::min(count, static_cast<std::uint64_t>(INT64_MAX)));
  } else {
    const double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                                   static_cast<double>(delta));
    if (!(count < 0x1p62)) fail_input("a range without end");
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(count));
  }
}

void infer_range(InferContext& context) {
  check_input_count(context, 3, 3);
  const TensorType& type = check_type(context, 0, set_of(RangeTypes{}));
  for (std::size_t index = 0; index < 3; ++index) {
    check_same_type(context, 0, index);
    check_scalar(context, index);
  }
  std::int64_t count = 0;
  dispatch(type.element, RangeTypes{}, [&]<typename T>(Tag<T>) {
    const auto start = load(*context.require_value(0).as<T>());
    const auto limit = load(*context.require_value(1).as<T>());
    const auto delta = load(*context.require_value(2).as<T>());
    count = range_count(start, limit, delta);
  });
  context.set_output(0, type.element, Shape{count});
}

void run_range(RunContext& context) {
  const TensorView output = context.output(0);
  dispatch(output.type, RangeTypes{}, [&]<typename T>(Tag<T>) {
    using C = Compute<T>;
    const C start = load(*context.input(0).as<T>());
    const C delta = load(*context.input(2).as<T>());
    T* to = output.as<T>();
    for (std::int64_t i = 0; i < output.elements(); ++i) {
      if constexpr (std::is_integral_v<C>) {
        to[i] = wrapping_add(start, wrapping_multiply(static_cast<C>(i), delta));
      } else {
        to[i] = store<T>(start + static_cast<C>(i) * delta);
      }
    }
  });
}

void infer_eye_like(InferContext& context) {
  check_input_count(context, 1, 1);
  check_rank(context, 0, 2, 2);
  const TensorType& type = context.input(0);
  const ElementType element = element_attribute(context.node(), "dtype", type.element);
  if (!all_types.contains(element)) {
    fail_unsupported(fmt::format("elements of type {}", element_name(element)));
  }
  context.set_output(0, element, type.shape);
}

void run_eye_like(RunContext& context) {
  const TensorView output = context.output(0);
  const std::int64_t rows = output.shape[0];
  const std::int64_t columns = output.shape[1];
  const std::int64_t diagonal = std::clamp(context.node().integer("k", 0), -rows - 1, columns + 1);
  std::memset(output.data, 0, output.bytes());
  dispatch(output.type, AllTypes{}, [&]<typename T>(Tag<T>) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t column = row + diagonal;
      if (column < 0 || column >= columns) continue;
      if constexpr (std::is_same_v<T, Boolean>) {
        output.as<T>()[row * columns + column] = {1};
      } else {
        output.as<T>()[row * columns + column] = store<T>(1.0F);
      }
    }
  });
}

}  // namespace

void register_generation(OperatorTable& table) {
  for (int version : {1, 9, 11, 12, 13, 19, 21}) {
    table.add({.name = "Constant",
               .since_version = version,
               .infer = infer_constant,
               .run = run_constant});
  }
  for (int version : {9, 20, 21}) {
    table.add({.name = "ConstantOfShape",
               .since_version = version,
               .infer = infer_constant_of_shape,
               .run = run_constant_of_shape});
  }
  table.add({.name = "Range", .since_version = 11, .infer = infer_range, .run = run_range});
  table.add({.name = "EyeLike", .since_version = 9, .infer = infer_eye_like, .run = run_eye_like});
  register_random_operators(table);
}

}  // namespace plimsoll::tensor
