#include "tensor/operators/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tensor/operators/dispatch.h"

namespace plimsoll::tensor {
namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 62;

}  // namespace

void check_input_count(const InferContext& context, std::size_t least, std::size_t most) {
  const std::size_t count = context.input_count();
  if (count > most) {
    fail_input(fmt::format("has {} inputs, at most {} are allowed", count, most));
  }
  for (std::size_t index = 0; index < least; ++index) {
    if (!context.has_input(index)) fail_input(fmt::format("input {} is missing", index));
  }
}

const TensorType& check_type(const InferContext& context, std::size_t index, TypeSet allowed) {
  const TensorType& type = context.input(index);
  if (!allowed.contains(type.element)) {
    fail_input(fmt::format("input {} has elements of type {}, which the operator does not take",
                           index, element_name(type.element)));
  }
  return type;
}

void check_same_type(const InferContext& context, std::size_t first, std::size_t second) {
  const ElementType a = context.input(first).element;
  const ElementType b = context.input(second).element;
  if (a != b) {
    fail_input(fmt::format("inputs {} and {} must have one element type, not {} and {}", first,
                           second, element_name(a), element_name(b)));
  }
}

void check_rank(const InferContext& context, std::size_t index, std::size_t least,
                std::size_t most) {
  const Shape& shape = context.input(index).shape;
  if (shape.rank() >= least && shape.rank() <= most) return;
  const std::string wanted =
      least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  fail_input(fmt::format("input {} has shape {}, a rank of {} is needed", index, shape.to_string(),
                         wanted));
}

void check_scalar(const InferContext& context, std::size_t index) {
  const Shape& shape = context.input(index).shape;
  if (shape.elements() != 1) {
    fail_input(
        fmt::format("input {} has shape {}, one element is needed", index, shape.to_string()));
  }
}

std::size_t normalize_axis(std::int64_t axis, std::size_t rank, std::string_view what) {
  const auto bound = static_cast<std::int64_t>(rank);
  if (axis < -bound || axis >= bound) {
    fail_input(fmt::format("{} {} is outside of a tensor of rank {}", what, axis, rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + bound : axis);
}

std::vector<std::size_t> normalize_axes(std::span<const std::int64_t> axes, std::size_t rank,
                                        std::string_view what) {
  std::vector<std::size_t> result;
  for (std::int64_t axis : axes) {
    const std::size_t normal = normalize_axis(axis, rank, what);
    if (std::ranges::find(result, normal) != result.end()) {
      fail_input(fmt::format("{} name dimension {} twice", what, normal));
    }
    result.push_back(normal);
  }
  return result;
}

std::vector<std::int64_t> read_integers(const ConstTensorView& view) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(view.elements()));
  if (view.type == ElementType::i64) {
    if (!values.empty()) std::memcpy(values.data(), view.data, view.bytes());
  } else if (view.type == ElementType::i32) {
    std::ranges::copy(view.span<std::int32_t>(), values.begin());
  } else {
    fail_input(
        fmt::format("integers of type i64 or i32 are needed, not {}", element_name(view.type)));
  }
  return values;
}

std::vector<float> read_floats(const ConstTensorView& view) {
  if (!is_floating(view.type)) {
    fail_input(fmt::format("floating point numbers are needed, not {}", element_name(view.type)));
  }
  std::vector<float> values(static_cast<std::size_t>(view.elements()));
  dispatch(view.type, FloatTypes{}, [&]<typename T>(Tag<T>) {
    std::ranges::transform(view.span<T>(), values.begin(),
                           [](T value) { return static_cast<float>(load(value)); });
  });
  return values;
}

bool read_boolean(const ConstTensorView& view) {
  if (view.type != ElementType::boolean || view.elements() != 1) {
    fail_input(fmt::format("one boolean is needed, not {} of shape {}", element_name(view.type),
                           view.shape.to_string()));
  }
  return std::to_integer<int>(*view.data) != 0;
}

std::vector<std::int64_t> to_vector(const Shape& shape) {
  const auto dimensions = shape.dimensions();
  return {dimensions.begin(), dimensions.end()};
}

std::int64_t checked_product(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t result = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result) || result > largest_size) {
    fail_input(fmt::format("{}: {} times {} is not a size", what, a, b));
  }
  return result;
}

std::int64_t checked_sum(std::int64_t a, std::int64_t b, std::string_view what) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result) || result < 0 || result > largest_size) {
    fail_input(fmt::format("{}: {} plus {} is not a size", what, a, b));
  }
  return result;
}

ElementType element_attribute(const Node& node, std::string_view key, ElementType fallback) {
  if (node.attribute(key) == nullptr) return fallback;
  const std::int64_t value = node.integer(key);
  const auto type = element_type_from_onnx(value);
  if (!type) {
    fail_unsupported(
        fmt::format("attribute '{}' asks for element type {} of the standard, which "
                    "this build does not have",
                    key, value));
  }
  return *type;
}

void infer_same(InferContext& context) {
  const TensorType& type = context.input(0);
  context.set_output(0, type.element, type.shape);
}

}  // namespace plimsoll::tensor
