// ONNX files → Graph. Why it exists: import reads structure only; payloads stay where they are, as
// (file, offset, length). May touch: wire.h, graph/. Format: onnx.proto (field numbers in
// onnx_messages.cpp).
#pragma once

#include <memory>
#include <string>

#include "tensor/graph/graph.h"

namespace plimsoll::tensor {

/// Reads a model file. Model-local functions are expanded, Constant nodes and Identities of weights
/// become weights, nodes are put in topological order. Throws Error(bad_input) for what is damaged,
/// inconsistent or no ONNX model, Error(unsupported) for what this build cannot represent.
[[nodiscard]] std::shared_ptr<const ModelGraph> import_onnx(const std::string& path);

}  // namespace plimsoll::tensor
