// Identities of weights. Why it exists: exporters share one layer's weights through chains of
// Identity (rxnmap uses two layers fifteen times); each must be recognised as the one weight it is,
// or it would be packed fifteen times. May touch: graph/graph.h.
#pragma once

#include "tensor/graph/graph.h"

namespace plimsoll::tensor::onnx {

/// In this graph and all below: what Identity makes of a weight becomes that weight (the same
/// StoredTensor), captures of weights become weights of the subgraph, and Identities that are then
/// unread are removed. Values keep their names; graph outputs stay. Nodes must be sorted. Cast and
/// Transpose of weights are left to the later passes, which know what they cost.
void resolve_aliases(Graph& graph);

}  // namespace plimsoll::tensor::onnx
