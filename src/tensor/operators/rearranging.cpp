// Operators that are one strided copy: Transpose, DepthToSpace, SpaceToDepth, Expand, Tile; and
// ReverseSequence and Trilu, which go row by row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tensor/operators/broadcast.h"
#include "tensor/operators/checks.h"
#include "tensor/operators/dispatch.h"
#include "tensor/operators/shaping.h"
#include "tensor/operators/strided_copy.h"

namespace plimsoll::tensor {
namespace {

// Transpose

std::vector<std::size_t> permutation_of(const Node& node, std::size_t rank) {
  const std::vector<std::int64_t> given = node.integers("perm");
  std::vector<std::size_t> permutation;
  if (given.empty()) {
    for (std::size_t axis = rank; axis-- > 0;) permutation.push_back(axis);
    return permutation;
  }
  if (given.size() != rank || *std::ranges::min_element(given) < 0) {
    fail_input(fmt::format("attribute 'perm' is not a permutation of {} dimensions", rank));
  }
  return normalize_axes(given, rank, "attribute 'perm'");
}

void infer_transpose(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, all_types);
  std::vector<std::int64_t> dimensions;
  for (std::size_t axis : permutation_of(context.node(), type.shape.rank())) {
    dimensions.push_back(type.shape[axis]);
  }
  context.set_output(0, type.element, Shape(dimensions));
}

void run_transpose(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const auto strides = row_major_strides(input.shape);
  std::vector<std::int64_t> from;
  for (std::size_t axis : permutation_of(context.node(), input.shape.rank())) {
    from.push_back(strides[axis]);
  }
  copy_strided(context.threads(), element_size(input.type), output.shape.dimensions(), input.data,
               from, output.data);
}

// DepthToSpace and SpaceToDepth: N×C×H×W seen as six dimensions, and permuted.

std::int64_t block_size(const Node& node) {
  const std::int64_t size = node.integer("blocksize");
  if (size < 1) fail_input(fmt::format("attribute 'blocksize' is {}, it must be positive", size));
  return size;
}

bool columns_first(const Node& node) {
  const std::string mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    fail_input("attribute 'mode' must be DCR or CRD, not '" + mode + "'");
  }
  return mode == "CRD";
}

void infer_depth_to_space(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, all_types);
  check_rank(context, 0, 4, 4);
  const Shape& shape = type.shape;
  const std::int64_t block = block_size(context.node());
  static_cast<void>(columns_first(context.node()));
  const std::int64_t square = checked_product(block, block, "blocksize");
  if (shape[1] % square != 0) {
    fail_input(fmt::format("{} channels do not divide by blocksize {} squared", shape[1], block));
  }
  context.set_output(0, type.element,
                     Shape{shape[0], shape[1] / square, checked_product(shape[2], block, "height"),
                           checked_product(shape[3], block, "width")});
}

void permute_six(RunContext& context, const std::array<std::int64_t, 6>& sizes,
                 const std::array<std::size_t, 6>& permutation) {
  const ConstTensorView input = context.input(0);
  std::array<std::int64_t, 6> strides{};
  std::int64_t stride = 1;
  for (std::size_t axis = 6; axis-- > 0;) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
  std::array<std::int64_t, 6> to{};
  std::array<std::int64_t, 6> from{};
  for (std::size_t axis = 0; axis < 6; ++axis) {
    to[axis] = sizes[permutation[axis]];
    from[axis] = strides[permutation[axis]];
  }
  copy_strided(context.threads(), element_size(input.type), to, input.data, from,
               context.output(0).data);
}

void run_depth_to_space(RunContext& context) {
  const Shape shape = context.input(0).shape;
  const std::int64_t block = block_size(context.node());
  const std::int64_t channels = context.output(0).shape[1];
  if (columns_first(context.node())) {
    permute_six(context, {shape[0], channels, block, block, shape[2], shape[3]},
                {0, 1, 4, 2, 5, 3});
  } else {
    permute_six(context, {shape[0], block, block, channels, shape[2], shape[3]},
                {0, 3, 4, 1, 5, 2});
  }
}

void infer_space_to_depth(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, all_types);
  check_rank(context, 0, 4, 4);
  const Shape& shape = type.shape;
  const std::int64_t block = block_size(context.node());
  static_cast<void>(columns_first(context.node()));
  if (shape[2] % block != 0 || shape[3] % block != 0) {
    fail_input(fmt::format("an image of {}x{} does not divide by blocksize {}", shape[2], shape[3],
                           block));
  }
  const std::int64_t square = checked_product(block, block, "blocksize");
  context.set_output(0, type.element,
                     Shape{shape[0], checked_product(shape[1], square, "channels"),
                           shape[2] / block, shape[3] / block});
}

void run_space_to_depth(RunContext& context) {
  const Shape shape = context.input(0).shape;
  const std::int64_t block = block_size(context.node());
  const std::array<std::int64_t, 6> sizes{shape[0], shape[1],         shape[2] / block,
                                          block,    shape[3] / block, block};
  if (columns_first(context.node())) {
    permute_six(context, sizes, {0, 1, 3, 5, 2, 4});
  } else {
    permute_six(context, sizes, {0, 3, 5, 1, 2, 4});
  }
}

// Expand and Tile: strides of 0 repeat.

void infer_expand(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& type = check_type(context, 0, all_types);
  check_rank(context, 1, 1, 1);
  context.set_output(0, type.element,
                     broadcast_shape(type.shape, Shape(context.require_integers(1))));
}

void run_expand(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const auto strides = row_major_strides(input.shape);
  std::vector<std::int64_t> from(output.shape.rank(), 0);
  const std::size_t missing = output.shape.rank() - input.shape.rank();
  for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
    if (input.shape[axis] != 1) from[missing + axis] = strides[axis];
  }
  copy_strided(context.threads(), element_size(input.type), output.shape.dimensions(), input.data,
               from, output.data);
}

void infer_tile(InferContext& context) {
  const TensorType& type = check_type(context, 0, all_types);
  std::vector<std::int64_t> dimensions = to_vector(type.shape);
  if (context.node().opset < 6) {
    // Version 1: how often (one number) and along which axis (one number), of the data's type.
    check_input_count(context, 3, 3);
    const auto number = [&](std::size_t index) {
      check_scalar(context, index);
      const ConstTensorView view = context.require_value(index);
      return is_floating(view.type) ? static_cast<std::int64_t>(read_floats(view)[0])
                                    : read_integers(view)[0];
    };
    const std::size_t axis = normalize_axis(number(2), type.shape.rank());
    dimensions[axis] = checked_product(dimensions[axis], number(1), "tiles");
  } else {
    check_input_count(context, 2, 2);
    const std::vector<std::int64_t> repeats = context.require_integers(1);
    if (repeats.size() != dimensions.size()) {
      fail_input(
          fmt::format("{} repeats for a tensor of rank {}", repeats.size(), dimensions.size()));
    }
    for (std::size_t axis = 0; axis < dimensions.size(); ++axis) {
      dimensions[axis] = checked_product(dimensions[axis], repeats[axis], "repeats");
    }
  }
  context.set_output(0, type.element, Shape(dimensions));
}

void run_tile(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  if (output.elements() == 0) return;
  const auto strides = row_major_strides(input.shape);
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> from;
  for (std::size_t axis = 0; axis < input.shape.rank(); ++axis) {
    sizes.push_back(output.shape[axis] / input.shape[axis]);
    from.push_back(0);
    sizes.push_back(input.shape[axis]);
    from.push_back(strides[axis]);
  }
  copy_strided(context.threads(), element_size(input.type), sizes, input.data, from, output.data);
}

// ReverseSequence

struct SequenceAxes {
  std::size_t batch;
  std::size_t time;
};
SequenceAxes sequence_axes(const Node& node) {
  const std::int64_t batch = node.integer("batch_axis", 1);
  const std::int64_t time = node.integer("time_axis", 0);
  if (batch + time != 1 || batch * time != 0) {
    fail_input("attributes 'batch_axis' and 'time_axis' must be 0 and 1, or 1 and 0");
  }
  return {static_cast<std::size_t>(batch), static_cast<std::size_t>(time)};
}

void infer_reverse_sequence(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& type = check_type(context, 0, all_types);
  check_rank(context, 0, 2, Shape::max_rank);
  const SequenceAxes axes = sequence_axes(context.node());
  if (context.input(1).shape != Shape{type.shape[axes.batch]}) {
    fail_input(fmt::format("sequence lengths of shape {} for a batch of {}",
                           context.input(1).shape.to_string(), type.shape[axes.batch]));
  }
  check_type(context, 1, index_types);
  infer_same(context);
}

void run_reverse_sequence(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const SequenceAxes axes = sequence_axes(context.node());
  const std::int64_t batch_size = input.shape[axes.batch];
  const std::int64_t times = input.shape[axes.time];
  const std::vector<std::int64_t> lengths = read_integers(context.input(1));
  for (std::int64_t length : lengths) {
    if (length < 0 || length > times) {
      fail_input(fmt::format("sequence length {} is outside of 0 to {}", length, times));
    }
  }
  const auto row = input.shape.product(2, input.shape.rank()) *
                   static_cast<std::int64_t>(element_size(input.type));
  const std::int64_t batch_stride = axes.batch == 0 ? times * row : row;
  const std::int64_t time_stride = axes.time == 0 ? batch_size * row : row;
  context.threads().parallel_for(
      batch_size, 1, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
        for (std::int64_t batch = begin; batch < end; ++batch) {
          const std::int64_t length = lengths[static_cast<std::size_t>(batch)];
          for (std::int64_t time = 0; time < times; ++time) {
            const std::int64_t source = time < length ? length - 1 - time : time;
            std::memcpy(output.data + batch * batch_stride + time * time_stride,
                        input.data + batch * batch_stride + source * time_stride,
                        static_cast<std::size_t>(row));
          }
        }
      });
}

// Trilu

void infer_trilu(InferContext& context) {
  check_input_count(context, 1, 2);
  check_type(context, 0, all_types);
  check_rank(context, 0, 2, Shape::max_rank);
  if (context.has_input(1)) {
    check_type(context, 1, TypeSet{ElementType::i64});
    check_scalar(context, 1);
  }
  infer_same(context);
}

void run_trilu(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const bool upper = context.node().integer("upper", 1) != 0;
  const std::int64_t rows = input.shape[input.shape.rank() - 2];
  const std::int64_t columns = input.shape.back();
  // Beyond the matrix all diagonals are alike; clamped, the sums below cannot overflow.
  const std::int64_t diagonal =
      context.has_input(1) ? std::clamp(read_integers(context.input(1))[0], -rows - 1, columns + 1)
                           : 0;
  const std::int64_t width = static_cast<std::int64_t>(element_size(input.type));
  if (columns == 0) return;
  const std::int64_t count = input.elements() / columns;
  const std::int64_t grain = std::max<std::int64_t>(1, 65536 / (columns * width));
  context.threads().parallel_for(
      count, grain, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
        for (std::int64_t index = begin; index < end; ++index) {
          const std::int64_t edge = index % rows + diagonal + (upper ? 0 : 1);
          const std::int64_t split = std::clamp<std::int64_t>(edge, 0, columns) * width;
          const std::int64_t end_of_row = columns * width;
          std::byte* to = output.data + index * end_of_row;
          const std::byte* from = input.data + index * end_of_row;
          const std::int64_t kept = upper ? split : 0;
          const std::int64_t kept_end = upper ? end_of_row : split;
          if (to != from) {
            std::memcpy(to + kept, from + kept, static_cast<std::size_t>(kept_end - kept));
          }
          const std::int64_t cleared = upper ? 0 : split;
          const std::int64_t cleared_end = upper ? split : end_of_row;
          std::memset(to + cleared, 0, static_cast<std::size_t>(cleared_end - cleared));
        }
      });
}

}  // namespace

void register_rearranging(OperatorTable& table) {
  for (int version : {1, 13, 21}) {
    table.add({.name = "Transpose",
               .since_version = version,
               .infer = infer_transpose,
               .run = run_transpose});
  }
  for (int version : {1, 11, 13}) {
    table.add({.name = "DepthToSpace",
               .since_version = version,
               .infer = infer_depth_to_space,
               .run = run_depth_to_space});
  }
  for (int version : {1, 13}) {
    table.add({.name = "SpaceToDepth",
               .since_version = version,
               .infer = infer_space_to_depth,
               .run = run_space_to_depth});
  }
  for (int version : {8, 13}) {
    table.add(
        {.name = "Expand", .since_version = version, .infer = infer_expand, .run = run_expand});
  }
  for (int version : {1, 6, 13}) {
    table.add({.name = "Tile", .since_version = version, .infer = infer_tile, .run = run_tile});
  }
  table.add({.name = "ReverseSequence",
             .since_version = 10,
             .infer = infer_reverse_sequence,
             .run = run_reverse_sequence});
  table.add({.name = "Trilu",
             .since_version = 14,
             .infer = infer_trilu,
             .run = run_trilu,
             .in_place_input = 0});
}

}  // namespace plimsoll::tensor
