// ONNX files → Graph. Why it exists: import reads structure only; payloads stay where they are, as
// (file, offset, length). May touch: graph/, archive/, the readers of this folder.
//
// Format: onnx.proto of the ONNX project (versions 3 to 13 of the format; what it says is unknown
// is skipped). Kept: nodes, attributes, subgraphs, initialisers, declared types of inputs and
// outputs, opset imports. Not kept: value_info (types are inferred), documentation, metadata,
// training.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "tensor/graph/graph.h"

namespace plimsoll::tensor {

/// Reads a model file. Model-local functions are expanded, Constant nodes and Identities of weights
/// become weights, nodes are put in topological order. External data is looked for in the folder of
/// `path` and nowhere else. Takes memory for the structure only, 16 KiB of buffer included,
/// whatever the weights weigh; no payload above 1 KiB is read. Throws Error(bad_input) for what is
/// missing, damaged, inconsistent or no ONNX model, naming the thing and what to do;
/// Error(unsupported) for structure beyond StructureLimit. Tensors and attributes that this build
/// cannot represent (int4, complex, strings, sparse …) are kept as Unreadable and
/// UnsupportedAttribute: an error where a node that is needed reads them.
[[nodiscard]] std::shared_ptr<const ModelGraph> import_onnx(const std::string& path);

/// The same from memory, which is copied; `name` stands for the path. External data is an
/// Error(bad_input).
[[nodiscard]] std::shared_ptr<const ModelGraph> import_onnx_bytes(const std::string& name,
                                                                  std::span<const std::byte> bytes);

}  // namespace plimsoll::tensor
