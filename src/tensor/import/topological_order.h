// The order in which nodes can run. Why it exists: ONNX demands that nodes are sorted, files from
// some tools are not, and a cycle would otherwise show as a value that never comes. May touch:
// graph/graph.h.
#pragma once

#include "tensor/graph/graph.h"

namespace plimsoll::tensor::onnx {

/// Puts every node behind the makers of what it and its subgraphs read. The order stays as it is
/// where it is right already; otherwise the earliest node that can run comes next (Kahn, 1962).
/// Every input must be made by a node, a graph input, a weight or a capture. Throws
/// Error(bad_input) naming a node of a cycle and the value that it waits for. Not recursive.
void sort_nodes(Graph& graph);

}  // namespace plimsoll::tensor::onnx
