// Constant nodes → stored tensors. Why it exists: a Constant is a weight that happens to be written
// as a node. May touch: graph/graph.h.
#pragma once

#include <memory>
#include <string>

#include "tensor/graph/graph.h"

namespace plimsoll::tensor::onnx {

/// The tensor of a Constant node: `value` itself, or a new one named `name` for value_float(s) and
/// value_int(s). Strings and sparse values give an Unreadable one. Throws Error(bad_input) unless
/// exactly one of the attributes is there, with its right type.
[[nodiscard]] std::shared_ptr<const StoredTensor> constant_tensor(const Node& node,
                                                                  const std::string& name);

}  // namespace plimsoll::tensor::onnx
