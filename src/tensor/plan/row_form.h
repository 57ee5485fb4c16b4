// Which nodes can be computed row by row, and which input rows they need. Why it exists: the strip
// planner must ask the same of kernels and of graph operators. May touch: graph/program.h,
// kernel_node.h.
//
// Rows are those of axis 1 of a four-dimensional value: channels-last images, and any other value
// of that rank for operators that work element by element.
#pragma once

#include <optional>

#include "tensor/graph/program.h"
#include "tensor/plan/kernel_node.h"

namespace plimsoll::tensor {

/// Whether the node's only output, of rank 4 and not empty, can be computed in any number of rows
/// at a time, batch item by batch item.
[[nodiscard]] bool row_wise(const Program& program, const ProgramNode& node);

/// The rows of input number `input` that output rows `output` (not empty) need, within the input;
/// nothing for inputs that are needed whole. Only for nodes that are row_wise.
[[nodiscard]] std::optional<RowRange> input_rows(const Program& program, const ProgramNode& node,
                                                 std::size_t input, RowRange output);

}  // namespace plimsoll::tensor
