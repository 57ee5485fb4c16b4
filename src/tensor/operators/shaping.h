// The parts of the family that moves elements without computing. Why it exists: one file for each
// kind of movement. May touch: operator.h.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

void register_reshaping(OperatorTable& table);
void register_rearranging(OperatorTable& table);
void register_joining(OperatorTable& table);
void register_slicing(OperatorTable& table);
void register_padding(OperatorTable& table);
void register_dropout(OperatorTable& table);

/// The integers of an input, at inference (ValueNeeded where it is not known) and at run alike, so
/// that both read a node's parameters by the same code.
[[nodiscard]] inline std::vector<std::int64_t> integers_at(const InferContext& context,
                                                           std::size_t index) {
  return context.require_integers(index);
}
[[nodiscard]] inline std::vector<std::int64_t> integers_at(const RunContext& context,
                                                           std::size_t index) {
  return read_integers(context.input(index));
}

/// The axis of a Concat or Split over tensors of that rank.
[[nodiscard]] std::size_t joining_axis(const Node& node, std::size_t rank);

/// Strides of a row-major tensor, in elements.
[[nodiscard]] std::vector<std::int64_t> row_major_strides(const Shape& shape);

}  // namespace plimsoll::tensor
