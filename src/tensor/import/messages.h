// The messages of onnx.proto that import needs, as plain structs. Why it exists: reading bytes and
// resolving names are two jobs, and fields come in any order (nodes before the initialisers and
// functions they use); this is what passes between the two. May touch: graph/graph.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor/graph/graph.h"

namespace plimsoll::tensor::onnx {

struct GraphMessage;

struct AttributeMessage {
  std::string name;
  std::string reference;  ///< ref_attr_name: the value comes from the function's caller
  /// monostate: nothing was given, as if the attribute were absent.
  std::variant<std::monostate, std::int64_t, float, std::string, std::vector<std::int64_t>,
               std::vector<float>, std::vector<std::string>, std::shared_ptr<const StoredTensor>,
               std::shared_ptr<const GraphMessage>, DeclaredType, UnsupportedAttribute>
      value;
};

struct NodeMessage {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string name;
  std::string op_type;
  std::string domain;  ///< "" for ai.onnx
  std::string overload;
  std::vector<AttributeMessage> attributes;

  /// "Conv 'name'" for messages; the first output names a node without a name.
  [[nodiscard]] std::string label() const;
};

struct ValueMessage {
  std::string name;
  std::optional<DeclaredType> type;
};

struct GraphMessage {
  std::string name;
  std::vector<NodeMessage> nodes;
  std::vector<std::shared_ptr<const StoredTensor>> initializers;
  std::vector<ValueMessage> inputs;
  std::vector<ValueMessage> outputs;
};

struct FunctionMessage {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<AttributeMessage> defaults;
  std::vector<NodeMessage> nodes;
  std::map<std::string, int> opsets;
};

struct ModelMessage {
  std::int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int> opsets;
  std::optional<GraphMessage> graph;
  std::vector<FunctionMessage> functions;
};

}  // namespace plimsoll::tensor::onnx
