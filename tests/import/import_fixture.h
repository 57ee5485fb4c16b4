// What the import tests share: models from memory, and errors as values. Why it exists: each test
// then says only what its model is and what must come of it. May touch: import/, tests/support.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/error.h"
#include "support/onnx_writer.h"
#include "tensor/import/onnx.h"

namespace plimsoll::tensor::test {

[[nodiscard]] inline std::shared_ptr<const ModelGraph> import_bytes(std::string_view bytes) {
  return import_onnx_bytes("model.onnx", std::as_bytes(std::span(bytes)));
}
[[nodiscard]] inline std::shared_ptr<const ModelGraph> import_model(const ModelWriter& model) {
  return import_bytes(model.bytes());
}
[[nodiscard]] inline std::shared_ptr<const ModelGraph> import_graph(const GraphWriter& graph) {
  return import_model(ModelWriter().graph(graph));
}

/// The error that `action` throws; fails the test where there is none.
template <typename Action>
[[nodiscard]] Error error_of(Action action) {
  try {
    (void)action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {ErrorKind::internal, ""};
}

/// A matcher in words: the error's kind, and parts that its message must hold.
template <typename Action>
void expect_error(Action action, ErrorKind kind, const std::vector<std::string>& parts) {
  const Error error = error_of(action);
  EXPECT_EQ(error.kind(), kind) << error.message();
  for (const std::string& part : parts) {
    EXPECT_NE(error.message().find(part), std::string::npos)
        << "'" << part << "' is not in: " << error.message();
  }
}

/// The value of a graph by its name; fails the test where it is missing.
[[nodiscard]] inline const Value& value_named(const Graph& graph, std::string_view name) {
  for (const Value& value : graph.values) {
    if (value.name == name) return value;
  }
  ADD_FAILURE() << "the graph has no value '" << name << "'";
  static const Value none;
  return none;
}

/// "Add(x,y)->z" for each node, in order.
[[nodiscard]] inline std::vector<std::string> nodes_of(const Graph& graph) {
  const auto names = [&](const std::vector<ValueId>& ids) {
    std::string text;
    for (ValueId id : ids) {
      if (!text.empty()) text += ",";
      text += id == no_value ? "-" : graph.values[id].name;
    }
    return text;
  };
  std::vector<std::string> result;
  for (const Node& node : graph.nodes) {
    result.push_back(node.op_type + "(" + names(node.inputs) + ")->" + names(node.outputs));
  }
  return result;
}

[[nodiscard]] inline std::vector<std::string> names_of(const Graph& graph,
                                                       const std::vector<ValueId>& ids) {
  std::vector<std::string> result;
  for (ValueId id : ids) result.push_back(graph.values.at(id).name);
  return result;
}

/// All elements of a stored tensor.
template <typename T>
[[nodiscard]] std::vector<T> elements_of(const StoredTensor& tensor) {
  std::vector<T> values(static_cast<std::size_t>(tensor.shape.elements()));
  EXPECT_EQ(element_size(tensor.type), sizeof(T));
  tensor.read(0, tensor.shape.elements(), reinterpret_cast<std::byte*>(values.data()));
  return values;
}

/// A graph x → y of these nodes, with float input x and output y of any shape.
[[nodiscard]] inline GraphWriter graph_of(const std::vector<NodeWriter>& nodes) {
  GraphWriter graph;
  graph.name("main").input("x", ElementType::f32, {"n"}).output("y", ElementType::f32, {"n"});
  for (const NodeWriter& node : nodes) graph.node(node);
  return graph;
}

}  // namespace plimsoll::tensor::test
