// Messages → Graph: names become value numbers, functions are expanded, subgraphs get their
// captures. Why it exists: ONNX scopes values by name; everything after import uses numbers. May
// touch: messages.h, graph/graph.h.
//
// Scopes. A graph sees its own names, and a subgraph those of the graphs around it; what it reads
// from there becomes a Capture, through every level in between. A function's body sees only its
// formal inputs and its own names; it is expanded into the graph of the call, so its inner values
// are added there under the call's label.
#pragma once

#include "tensor/import/messages.h"
#include "tensor/import/structure_limit.h"

namespace plimsoll::tensor::onnx {

/// Builds the main graph and all below it: nodes sorted, aliases of weights resolved. `model.graph`
/// must be there. Throws Error(bad_input) for names that are undefined or defined twice, cycles,
/// functions that call themselves and attributes that do not fit.
[[nodiscard]] Graph build_graph(const ModelMessage& model, StructureLimit& limit);

}  // namespace plimsoll::tensor::onnx
