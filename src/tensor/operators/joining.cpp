// Concat and Split.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/shaping.h"
#include "tensor/operators/strided_copy.h"

namespace plimsoll::tensor {
namespace {

void infer_concat(InferContext& context) {
  check_input_count(context, 1, SIZE_MAX);
  const TensorType& first = check_type(context, 0, all_types);
  check_rank(context, 0, 1, Shape::max_rank);
  const std::size_t axis = joining_axis(context.node(), first.shape.rank());
  std::vector<std::int64_t> dimensions = to_vector(first.shape);
  for (std::size_t index = 1; index < context.input_count(); ++index) {
    check_same_type(context, 0, index);
    const Shape& shape = context.input(index).shape;
    bool fits = shape.rank() == first.shape.rank();
    for (std::size_t other = 0; fits && other < shape.rank(); ++other) {
      fits = other == axis || shape[other] == first.shape[other];
    }
    if (!fits) {
      fail_input(fmt::format("input {} of shape {} does not join shape {} along dimension {}",
                             index, shape.to_string(), first.shape.to_string(), axis));
    }
    dimensions[axis] = checked_sum(dimensions[axis], shape[axis], "the joined dimension");
  }
  context.set_output(0, first.element, Shape(dimensions));
}

/// Bytes of one row (dimension `axis` and all after it).
std::int64_t row_bytes(const Shape& shape, std::size_t axis, ElementType element) {
  return shape.product(axis, shape.rank()) * static_cast<std::int64_t>(element_size(element));
}

/// The planner may have placed a part in the whole, where it is one run of bytes.
bool in_place(std::int64_t rows, const std::byte* source, const std::byte* destination) {
  return rows == 1 && source == destination;
}

void run_concat(RunContext& context) {
  const TensorView output = context.output(0);
  const std::size_t axis = joining_axis(context.node(), output.shape.rank());
  const std::int64_t rows = output.shape.product(0, axis);
  const std::int64_t output_row = row_bytes(output.shape, axis, output.type);
  std::int64_t offset = 0;
  for (std::size_t index = 0; index < context.input_count(); ++index) {
    const ConstTensorView input = context.input(index);
    const std::int64_t row = row_bytes(input.shape, axis, input.type);
    if (!in_place(rows, input.data, output.data + offset)) {
      copy_rows(context.threads(), rows, row, input.data, row, output.data + offset, output_row);
    }
    offset += row;
  }
}

/// Whether the sizes of Split's parts are an input (versions 1 and 13) or an attribute.
bool sizes_are_input(const Node& node) {
  return node.opset == 1 || node.opset >= 13;
}

/// Sizes of Split's parts: given, or equal ones. From version 18 the last may be smaller. Checked:
/// they fill the dimension.
template <typename Context>
std::vector<std::int64_t> part_sizes(const Context& context, std::int64_t dimension) {
  const Node& node = context.node();
  const auto parts = static_cast<std::int64_t>(node.outputs.size());
  std::vector<std::int64_t> sizes;
  if (sizes_are_input(node) && context.has_input(1)) {
    if (node.attribute("num_outputs") != nullptr) {
      fail_input("the sizes of the parts and 'num_outputs' exclude each other");
    }
    sizes = integers_at(context, 1);
  } else if (node.attribute("split") != nullptr) {
    sizes = node.integers("split");
  } else {
    if (node.attribute("num_outputs") != nullptr && node.integer("num_outputs") != parts) {
      fail_input(fmt::format("attribute 'num_outputs' is {}, but the node has {} outputs",
                             node.integer("num_outputs"), parts));
    }
    if (parts == 0) fail_input("has no outputs");
    if (node.opset < 18 && dimension % parts != 0) {
      fail_input(
          fmt::format("a dimension of {} does not divide into {} equal parts", dimension, parts));
    }
    const std::int64_t size = (dimension + parts - 1) / parts;
    std::int64_t rest = dimension;
    for (std::int64_t part = 0; part < parts; ++part) {
      sizes.push_back(std::min(size, rest));
      rest -= sizes.back();
    }
  }
  std::int64_t sum = 0;
  for (std::int64_t size : sizes) {
    if (size < 0) fail_input(fmt::format("a part of size {}", size));
    sum = checked_sum(sum, size, "the sizes of the parts");
  }
  if (sum != dimension || sizes.size() != node.outputs.size()) {
    fail_input(fmt::format("{} parts of {} in all, for {} outputs of a dimension of {}",
                           sizes.size(), sum, parts, dimension));
  }
  return sizes;
}

void infer_split(InferContext& context) {
  check_input_count(context, 1, 2);
  const TensorType& type = check_type(context, 0, all_types);
  const std::size_t axis = joining_axis(context.node(), type.shape.rank());
  const std::vector<std::int64_t> sizes = part_sizes(context, type.shape[axis]);
  std::vector<std::int64_t> dimensions = to_vector(type.shape);
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    dimensions[axis] = sizes[index];
    context.set_output(index, type.element, Shape(dimensions));
  }
}

void run_split(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const std::size_t axis = joining_axis(context.node(), input.shape.rank());
  const std::int64_t rows = input.shape.product(0, axis);
  const std::int64_t input_row = row_bytes(input.shape, axis, input.type);
  const std::int64_t unit = row_bytes(input.shape, axis + 1, input.type);
  const std::vector<std::int64_t> sizes = part_sizes(context, input.shape[axis]);
  std::int64_t offset = 0;
  for (std::size_t index = 0; index < sizes.size(); ++index) {
    const std::int64_t size = sizes[index] * unit;
    if (context.has_output(index) &&
        !in_place(rows, input.data + offset, context.output(index).data)) {
      copy_rows(context.threads(), rows, size, input.data + offset, input_row,
                context.output(index).data, size);
    }
    offset += size;
  }
}

}  // namespace

std::size_t joining_axis(const Node& node, std::size_t rank) {
  if (node.op_type == "Split") return normalize_axis(node.integer("axis", 0), rank);
  // Version 1 had a default; from version 4 the attribute is required.
  return normalize_axis(node.opset < 4 ? node.integer("axis", 1) : node.integer("axis"), rank);
}

void register_joining(OperatorTable& table) {
  for (int version : {1, 4, 11, 13}) {
    table.add(
        {.name = "Concat", .since_version = version, .infer = infer_concat, .run = run_concat});
  }
  for (int version : {1, 2, 11, 13, 18}) {
    table.add({.name = "Split", .since_version = version, .infer = infer_split, .run = run_split});
  }
}

}  // namespace plimsoll::tensor
