// OneHot, Compress and NonZero: between indices and masks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/indexing.h"
#include "tensor/operators/integer_math.h"

namespace plimsoll::tensor {
namespace {

/// A number of any type as an integer.
std::int64_t whole_number(const ConstTensorView& view, std::int64_t position) {
  std::int64_t result = 0;
  dispatch(view.type, NumericTypes{}, [&]<typename T>(Tag<T>) {
    const auto value = load(view.as<T>()[position]);
    if constexpr (std::is_floating_point_v<Compute<T>>) {
      result = truncated<std::int64_t>(value);
    } else {
      result = static_cast<std::int64_t>(value);
    }
  });
  return result;
}

std::size_t one_hot_axis(const Node& node, std::size_t rank) {
  return normalize_axis(node.integer("axis", -1), rank + 1);
}

void infer_one_hot(InferContext& context) {
  check_input_count(context, 3, 3);
  const TensorType& indices = check_type(context, 0, numeric_types);
  check_type(context, 1, numeric_types);
  check_scalar(context, 1);
  const TensorType& values = check_type(context, 2, all_types);
  if (values.shape != Shape{2}) fail_input("input 2 must hold two values: off and on");
  const std::size_t axis = one_hot_axis(context.node(), indices.shape.rank());
  std::vector<std::int64_t> dimensions = to_vector(indices.shape);
  dimensions.insert(dimensions.begin() + static_cast<std::ptrdiff_t>(axis),
                    whole_number(context.require_value(1), 0));
  context.set_output(0, values.element, Shape(dimensions));
}

/// Indices outside of [−depth, depth) leave their row off.
void run_one_hot(RunContext& context) {
  const ConstTensorView indices = context.input(0);
  const ConstTensorView values = context.input(2);
  const TensorView output = context.output(0);
  const std::size_t axis = one_hot_axis(context.node(), indices.shape.rank());
  const std::int64_t depth = output.shape[axis];
  const std::int64_t inner = indices.shape.product(axis, indices.shape.rank());
  dispatch_width(element_size(values.type), [&]<typename T>(Tag<T>) {
    std::fill_n(output.as<T>(), output.elements(), values.as<T>()[0]);
    const T on = values.as<T>()[1];
    for (std::int64_t position = 0; position < indices.elements(); ++position) {
      std::int64_t index = whole_number(indices, position);
      if (index < -depth || index >= depth) continue;
      if (index < 0) index += depth;
      output.as<T>()[(position / inner * depth + index) * inner + position % inner] = on;
    }
  });
}

/// Compress keeps what the condition names along an axis, or of the flattened input.
struct CompressView {
  std::int64_t outer = 1;
  std::int64_t length;
  std::int64_t inner = 1;
  bool flat;
  std::size_t axis = 0;

  CompressView(const Node& node, const Shape& shape)
      : length(shape.elements()), flat(node.attribute("axis") == nullptr) {
    if (flat) return;
    axis = normalize_axis(node.integer("axis"), shape.rank());
    outer = shape.product(0, axis);
    length = shape[axis];
    inner = shape.product(axis + 1, shape.rank());
  }
  /// A condition may be shorter than the dimension; what it does not name is dropped.
  [[nodiscard]] std::int64_t named(const ConstTensorView& condition) const {
    return std::min(length, condition.elements());
  }
};

void infer_compress(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& type = check_type(context, 0, all_types);
  check_type(context, 1, boolean_type);
  check_rank(context, 1, 1, 1);
  const CompressView view(context.node(), type.shape);
  const ConstTensorView condition = context.require_value(1);
  const auto* kept = condition.as<std::uint8_t>();
  const std::int64_t count = std::count_if(kept, kept + view.named(condition),
                                           [](std::uint8_t byte) { return byte != 0; });
  if (view.flat) {
    context.set_output(0, type.element, Shape{count});
    return;
  }
  std::vector<std::int64_t> dimensions = to_vector(type.shape);
  dimensions[view.axis] = count;
  context.set_output(0, type.element, Shape(dimensions));
}

void run_compress(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const ConstTensorView condition = context.input(1);
  std::byte* to = context.output(0).data;
  const CompressView view(context.node(), input.shape);
  const auto row = static_cast<std::size_t>(view.inner) * element_size(input.type);
  const std::byte* from = input.data;
  for (std::int64_t outer = 0; outer < view.outer; ++outer) {
    for (std::int64_t position = 0; position < view.length; ++position, from += row) {
      if (position >= view.named(condition) || condition.as<std::uint8_t>()[position] == 0) {
        continue;
      }
      std::memcpy(to, from, row);
      to += row;
    }
  }
}

/// Calls body(position) for every element that is not zero.
template <typename F>
void for_each_nonzero(const ConstTensorView& view, const F& body) {
  dispatch(view.type, AllTypes{}, [&]<typename T>(Tag<T>) {
    for (std::int64_t position = 0; position < view.elements(); ++position) {
      bool zero = false;
      if constexpr (std::is_same_v<T, Boolean>) {
        zero = view.as<T>()[position].byte == 0;
      } else {
        zero = load(view.as<T>()[position]) == Compute<T>{0};
      }
      if (!zero) body(position);
    }
  });
}

void infer_nonzero(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, all_types);
  std::int64_t count = 0;
  for_each_nonzero(context.require_value(0), [&](std::int64_t /*position*/) { ++count; });
  context.set_output(0, ElementType::i64,
                     Shape{static_cast<std::int64_t>(type.shape.rank()), count});
}

/// Coordinates in row-major order, one row of the output for each dimension.
void run_nonzero(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const std::int64_t count = output.shape[1];
  std::int64_t found = 0;
  for_each_nonzero(input, [&](std::int64_t position) {
    auto* to = output.as<std::int64_t>() + found++;
    for (std::size_t axis = input.shape.rank(); axis-- > 0;) {
      to[static_cast<std::int64_t>(axis) * count] = position % input.shape[axis];
      position /= input.shape[axis];
    }
  });
}

}  // namespace

void register_masks(OperatorTable& table) {
  for (int version : {9, 11}) {
    table.add(
        {.name = "OneHot", .since_version = version, .infer = infer_one_hot, .run = run_one_hot});
    table.add({.name = "Compress",
               .since_version = version,
               .infer = infer_compress,
               .run = run_compress});
  }
  for (int version : {9, 13}) {
    table.add(
        {.name = "NonZero", .since_version = version, .infer = infer_nonzero, .run = run_nonzero});
  }
}

void register_indexing(OperatorTable& table) {
  register_gathering(table);
  register_scattering(table);
  register_masks(table);
}

}  // namespace plimsoll::tensor
