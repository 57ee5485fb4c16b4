// Operators that keep the elements and their order: Reshape, Flatten, Squeeze, Unsqueeze, Identity;
// and those that read only the shape: Shape, Size.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/shaping.h"
#include "tensor/operators/strided_copy.h"

namespace plimsoll::tensor {
namespace {

void run_copy(RunContext& context) {
  const ConstTensorView input = context.input(0);
  copy_bytes(context.threads(), input.data, context.output(0).data, input.bytes());
}

/// `wanted` with 0 (keep, unless zeros are meant) and one −1 (what remains) replaced.
Shape reshaped(const Shape& input, std::vector<std::int64_t> wanted, bool zeros_are_sizes) {
  constexpr std::size_t nowhere = SIZE_MAX;
  std::size_t open = nowhere;
  std::int64_t known = 1;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
    if (wanted[axis] == -1) {
      if (open != nowhere) fail_input("the new shape has more than one -1");
      open = axis;
      continue;
    }
    if (wanted[axis] == 0 && !zeros_are_sizes) {
      if (axis >= input.rank()) {
        fail_input(
            fmt::format("the new shape keeps dimension {}, which the input of shape {} does "
                        "not have",
                        axis, input.to_string()));
      }
      wanted[axis] = input[axis];
    }
    known = checked_product(known, wanted[axis], "the new shape");
  }
  const std::int64_t elements = input.elements();
  if (open != nowhere) {
    if (known == 0 ? elements != 0 || zeros_are_sizes : elements % known != 0) {
      fail_input(fmt::format("shape {} does not divide into {} parts for the dimension -1",
                             input.to_string(), known));
    }
    wanted[open] = known == 0 ? 0 : elements / known;
  } else if (known != elements) {
    fail_input(fmt::format("{} elements of shape {} do not fill the new shape {}", elements,
                           input.to_string(), Shape(wanted).to_string()));
  }
  return Shape(wanted);
}

void infer_reshape_attribute(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, all_types);
  context.set_output(0, type.element,
                     reshaped(type.shape, context.node().integers("shape"), false));
}

void infer_reshape(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& type = check_type(context, 0, all_types);
  check_rank(context, 1, 1, 1);
  const bool zeros_are_sizes = context.node().integer("allowzero", 0) != 0;
  context.set_output(0, type.element,
                     reshaped(type.shape, context.require_integers(1), zeros_are_sizes));
}

void infer_flatten(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, all_types);
  const auto rank = static_cast<std::int64_t>(type.shape.rank());
  std::int64_t axis = context.node().integer("axis", 1);
  // Unlike elsewhere the axis may be the rank itself.
  if (axis < -rank || axis > rank) {
    fail_input(fmt::format("axis {} is outside of a tensor of rank {}", axis, rank));
  }
  if (axis < 0) axis += rank;
  const auto split = static_cast<std::size_t>(axis);
  context.set_output(
      0, type.element,
      Shape{type.shape.product(0, split), type.shape.product(split, type.shape.rank())});
}

/// Axes from the attribute (before version 13) or the second input.
std::vector<std::int64_t> axes_of(InferContext& context, bool from_input) {
  if (!from_input) return context.node().integers("axes");
  if (!context.has_input(1)) return {};
  return context.require_integers(1);
}

template <bool from_input>
void infer_squeeze(InferContext& context) {
  check_input_count(context, 1, from_input ? 2 : 1);
  const TensorType& type = check_type(context, 0, all_types);
  const auto axes = normalize_axes(axes_of(context, from_input), type.shape.rank());
  const bool all_ones =
      from_input ? !context.has_input(1) : context.node().attribute("axes") == nullptr;
  std::vector<std::int64_t> kept;
  for (std::size_t axis = 0; axis < type.shape.rank(); ++axis) {
    const bool named =
        all_ones ? type.shape[axis] == 1 : std::ranges::find(axes, axis) != axes.end();
    if (!named) {
      kept.push_back(type.shape[axis]);
    } else if (type.shape[axis] != 1) {
      fail_input(fmt::format("dimension {} of shape {} is not 1 and cannot be squeezed", axis,
                             type.shape.to_string()));
    }
  }
  context.set_output(0, type.element, Shape(kept));
}

template <bool from_input>
void infer_unsqueeze(InferContext& context) {
  check_input_count(context, from_input ? 2 : 1, from_input ? 2 : 1);
  const TensorType& type = check_type(context, 0, all_types);
  const std::vector<std::int64_t> given = axes_of(context, from_input);
  const std::size_t rank = type.shape.rank() + given.size();
  const auto axes = normalize_axes(given, rank);
  std::vector<std::int64_t> dimensions;
  std::size_t source = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const bool added = std::ranges::find(axes, axis) != axes.end();
    dimensions.push_back(added ? 1 : type.shape[source++]);
  }
  context.set_output(0, type.element, Shape(dimensions));
}

void infer_identity(InferContext& context) {
  check_input_count(context, 1, 1);
  check_type(context, 0, all_types);
  infer_same(context);
}

/// From version 15 `start` and `end` choose a part of the dimensions, clamped like a slice.
struct DimensionRange {
  std::size_t first;
  std::size_t last;
};
DimensionRange dimension_range(const Node& node, std::size_t rank) {
  const auto bound = static_cast<std::int64_t>(rank);
  const auto clamped = [&](std::int64_t value) {
    if (value < 0) value += bound;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(value, 0, bound));
  };
  if (node.opset < 15) return {0, rank};
  const std::size_t first = clamped(node.integer("start", 0));
  const std::size_t last = clamped(node.integer("end", bound));
  return {first, std::max(first, last)};
}

void infer_shape(InferContext& context) {
  check_input_count(context, 1, 1);
  const DimensionRange range = dimension_range(context.node(), context.input(0).shape.rank());
  context.set_output(0, ElementType::i64,
                     Shape{static_cast<std::int64_t>(range.last - range.first)});
}

void run_shape(RunContext& context) {
  const Shape shape = context.input(0).shape;
  const DimensionRange range = dimension_range(context.node(), shape.rank());
  auto* output = context.output(0).as<std::int64_t>();
  for (std::size_t axis = range.first; axis < range.last; ++axis) *output++ = shape[axis];
}

void infer_size(InferContext& context) {
  check_input_count(context, 1, 1);
  context.set_output(0, ElementType::i64, Shape{});
}

void run_size(RunContext& context) {
  *context.output(0).as<std::int64_t>() = context.input(0).elements();
}

void add_copy(OperatorTable& table, std::string_view name, std::initializer_list<int> versions,
              void (*infer)(InferContext&)) {
  for (int version : versions) {
    table.add({.name = name,
               .since_version = version,
               .infer = infer,
               .run = run_copy,
               .in_place_input = 0});
  }
}

}  // namespace

void register_reshaping(OperatorTable& table) {
  add_copy(table, "Reshape", {1}, infer_reshape_attribute);
  add_copy(table, "Reshape", {5, 13, 14, 19, 21}, infer_reshape);
  add_copy(table, "Flatten", {1, 9, 11, 13, 21}, infer_flatten);
  add_copy(table, "Squeeze", {1, 11}, infer_squeeze<false>);
  add_copy(table, "Squeeze", {13, 21}, infer_squeeze<true>);
  add_copy(table, "Unsqueeze", {1, 11}, infer_unsqueeze<false>);
  add_copy(table, "Unsqueeze", {13, 21}, infer_unsqueeze<true>);
  add_copy(table, "Identity", {1, 13, 14, 16, 19, 21}, infer_identity);
  for (int version : {1, 13, 15, 19, 21}) {
    table.add({.name = "Shape", .since_version = version, .infer = infer_shape, .run = run_shape});
  }
  for (int version : {1, 13, 19, 21}) {
    table.add({.name = "Size", .since_version = version, .infer = infer_size, .run = run_size});
  }
}

}  // namespace plimsoll::tensor
