#include "tensor/operators/broadcast.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "plimsoll/error.h"
#include "tensor/operators/checks.h"

namespace plimsoll::tensor {

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> result(rank);
  for (std::size_t back = 1; back <= rank; ++back) {
    const std::int64_t x = back <= a.rank() ? a[a.rank() - back] : 1;
    const std::int64_t y = back <= b.rank() ? b[b.rank() - back] : 1;
    if (x != y && x != 1 && y != 1) {
      fail_input(fmt::format("shapes {} and {} do not broadcast", a.to_string(), b.to_string()));
    }
    result[rank - back] = x == 1 ? y : x;
  }
  return Shape(result);
}

void check_broadcasts_to(const Shape& from, const Shape& to) {
  bool fits = from.rank() <= to.rank();
  for (std::size_t back = 1; fits && back <= from.rank(); ++back) {
    const std::int64_t dimension = from[from.rank() - back];
    fits = dimension == 1 || dimension == to[to.rank() - back];
  }
  if (!fits) {
    fail_input(fmt::format("shape {} does not broadcast to {}", from.to_string(), to.to_string()));
  }
}

Shape second_operand_shape(const Node& node, const Shape& a, const Shape& b) {
  if (node.opset >= 7) return b;
  if (node.integer("broadcast", 0) == 0) {
    if (a != b) {
      fail_input(fmt::format("shapes {} and {} differ, and attribute 'broadcast' is not set",
                             a.to_string(), b.to_string()));
    }
    return b;
  }
  if (b.rank() > a.rank()) {
    fail_input(fmt::format("shape {} does not broadcast to {}", b.to_string(), a.to_string()));
  }
  std::size_t axis = a.rank() - b.rank();
  if (node.attribute("axis") != nullptr && b.rank() > 0) {
    axis = normalize_axis(node.integer("axis"), a.rank());
  }
  // Trailing ones of b may reach past the end of a.
  std::vector<std::int64_t> aligned(a.rank() - axis, 1);
  for (std::size_t index = 0; index < b.rank(); ++index) {
    if (index < aligned.size()) {
      aligned[index] = b[index];
    } else if (b[index] != 1) {
      fail_input(fmt::format("shape {} at axis {} reaches past the end of shape {}", b.to_string(),
                             axis, a.to_string()));
    }
  }
  Shape result(aligned);
  check_broadcasts_to(result, a);
  return result;
}

BroadcastLoop::BroadcastLoop(const Shape& output, std::span<const Shape> operands)
    : count_(operands.size()) {
  if (count_ > max_operands) fail_internal("too many operands for one loop");
  for (std::size_t axis = 0; axis < output.rank(); ++axis) {
    if (output[axis] == 1) continue;
    // Strides of the operands along this axis: 0 where they are repeated.
    std::array<std::int64_t, max_operands> strides{};
    bool merges = rank_ > 0;
    for (std::size_t operand = 0; operand < count_; ++operand) {
      const Shape& shape = operands[operand];
      const std::size_t missing = output.rank() - shape.rank();
      if (axis >= missing && shape[axis - missing] != 1) {
        strides[operand] = shape.product(axis - missing + 1, shape.rank());
      }
      if (merges) {
        merges = strides_[operand][rank_ - 1] == strides[operand] * output[axis];
      }
    }
    if (merges) {
      sizes_[rank_ - 1] *= output[axis];
    } else {
      sizes_[rank_++] = output[axis];
    }
    for (std::size_t operand = 0; operand < count_; ++operand) {
      strides_[operand][rank_ - 1] = strides[operand];
    }
  }
  if (rank_ == 0) {
    sizes_[0] = 1;
    rank_ = 1;
  }
}

}  // namespace plimsoll::tensor
