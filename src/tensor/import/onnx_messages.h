// The messages of onnx.proto that import needs, as plain structs. Why it exists: reading bytes and
// resolving names are two jobs; this is what passes between them. May touch: graph/graph.h, wire.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor/graph/graph.h"
#include "tensor/import/wire.h"

namespace plimsoll::tensor::onnx {

struct GraphMessage;

struct AttributeMessage {
  std::string name;
  std::string reference;  ///< ref_attr_name: the value comes from the function's caller
  std::variant<std::monostate, std::int64_t, float, std::string, std::vector<std::int64_t>,
               std::vector<float>, std::vector<std::string>, std::shared_ptr<const StoredTensor>,
               std::shared_ptr<const GraphMessage>>
      value;
};

struct NodeMessage {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string name;
  std::string op_type;
  std::string domain;
  std::vector<AttributeMessage> attributes;
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
  std::vector<ValueMessage> values;
};

struct FunctionMessage {
  std::string name;
  std::string domain;
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
  GraphMessage graph;
  bool has_graph = false;
  std::vector<FunctionMessage> functions;
};

/// Reads a whole model. `reader` is at the file's start.
[[nodiscard]] ModelMessage read_model(WireReader& reader);
/// Reads one TensorProto; its bytes are the reader's current message.
[[nodiscard]] std::shared_ptr<const StoredTensor> read_tensor(WireReader& reader);
/// Opens the file of an external tensor: below the model's folder, whatever links say.
[[nodiscard]] std::shared_ptr<const SourceFile> open_external(const std::string& model_path,
                                                              const std::string& location,
                                                              const std::string& tensor);

}  // namespace plimsoll::tensor::onnx
