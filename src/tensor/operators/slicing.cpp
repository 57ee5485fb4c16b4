// Slice: a strided copy whose source steps.
#include "tensor/operators/slicing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/planned_context.h"
#include "tensor/operators/shaping.h"
#include "tensor/operators/strided_copy.h"

namespace plimsoll::tensor {
namespace {

/// Numbers from outside may be the ends of the integer range; everything is clamped to the
/// dimension before it is added to anything.
SliceRange resolve(std::int64_t start, std::int64_t end, std::int64_t step,
                   std::int64_t dimension) {
  if (step == 0) fail_input("a step of 0");
  SliceRange range;
  const std::int64_t first = step > 0 ? 0 : -1;
  const std::int64_t last = step > 0 ? dimension : dimension - 1;
  const auto clamped = [&](std::int64_t value) {
    if (value < 0) value += dimension;
    return std::clamp(value, std::min(first, last), last);
  };
  range.start = clamped(start);
  const std::int64_t stop = clamped(end);
  // A step longer than the dimension takes one element, as does one of exactly that length.
  range.step = std::clamp(step, -dimension - 1, dimension + 1);
  const std::int64_t distance = step > 0 ? stop - range.start : range.start - stop;
  const std::int64_t stride = step > 0 ? range.step : -range.step;
  range.count = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  return range;
}

/// Parameters are attributes before version 10, inputs from then on.
template <typename Context>
std::vector<SliceRange> slice_ranges(const Context& context, const Shape& shape) {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
  const Node& node = context.node();
  if (node.opset < 10) {
    starts = node.integers("starts");
    ends = node.integers("ends");
    axes = node.integers("axes");
  } else {
    starts = integers_at(context, 1);
    ends = integers_at(context, 2);
    if (context.has_input(3)) axes = integers_at(context, 3);
    if (context.has_input(4)) steps = integers_at(context, 4);
  }
  if (axes.empty()) {
    for (std::size_t axis = 0; axis < starts.size(); ++axis) {
      axes.push_back(static_cast<std::int64_t>(axis));
    }
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    fail_input(fmt::format("{} starts, {} ends, {} axes and {} steps do not match", starts.size(),
                           ends.size(), axes.size(), steps.size()));
  }
  std::vector<SliceRange> ranges(shape.rank());
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) ranges[axis].count = shape[axis];
  const std::vector<std::size_t> normal = normalize_axes(axes, shape.rank());
  for (std::size_t index = 0; index < starts.size(); ++index) {
    ranges[normal[index]] = resolve(starts[index], ends[index], steps[index], shape[normal[index]]);
  }
  return ranges;
}

void infer_slice(InferContext& context) {
  if (context.node().opset < 10) {
    check_input_count(context, 1, 1);
  } else {
    check_input_count(context, 3, 5);
  }
  const TensorType& type = check_type(context, 0, all_types);
  std::vector<std::int64_t> dimensions;
  for (const SliceRange& range : slice_ranges(context, type.shape)) {
    dimensions.push_back(range.count);
  }
  context.set_output(0, type.element, Shape(dimensions));
}

void run_slice(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  if (output.elements() == 0) return;
  const std::vector<std::int64_t> strides = row_major_strides(input.shape);
  const std::vector<SliceRange> ranges = slice_ranges(context, input.shape);
  std::int64_t first = 0;
  std::vector<std::int64_t> from;
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    first += ranges[axis].start * strides[axis];
    from.push_back(ranges[axis].step * strides[axis]);
  }
  const std::size_t size = element_size(input.type);
  copy_strided(context.threads(), size, output.shape.dimensions(),
               input.data + first * static_cast<std::int64_t>(size), from, output.data);
}

}  // namespace

std::optional<std::vector<SliceRange>> known_slice(Program& program, const ProgramNode& node) {
  for (std::size_t index = 1; index < node.inputs.size(); ++index) {
    if (node.inputs[index] != no_value && !known_value(program, node.inputs[index])) {
      return std::nullopt;
    }
  }
  const InferContext& context = PlannedContext(program, node);
  return slice_ranges(context, context.input(0).shape);
}

void register_slicing(OperatorTable& table) {
  for (int version : {1, 10, 11, 13}) {
    table.add({.name = "Slice", .since_version = version, .infer = infer_slice, .run = run_slice});
  }
}

}  // namespace plimsoll::tensor
