#include "tensor/import/aliases.h"

#include <memory>
#include <utility>
#include <vector>

namespace plimsoll::tensor::onnx {
namespace {

// Removes the nodes for which drop(node, index) is true; asks in their order, each once.
template <typename Drop>
void remove_nodes(std::vector<Node>& nodes, Drop drop) {
  std::size_t kept = 0;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    if (drop(nodes[index], index)) continue;
    if (kept != index) nodes[kept] = std::move(nodes[index]);
    ++kept;
  }
  nodes.resize(kept);
}

bool is_identity(const Node& node) {
  return node.domain.empty() && node.op_type == "Identity" && node.inputs.size() == 1 &&
         node.inputs[0] != no_value && node.outputs.size() == 1 && node.outputs[0] != no_value;
}

// Weights of `outer` that the subgraph reads become its own.
void take_weights(const Graph& outer, Graph& body) {
  std::erase_if(body.captures, [&](const Capture& capture) {
    const auto& stored = outer.values[capture.outer].stored;
    if (stored == nullptr) return false;
    body.values[capture.inner].stored = stored;
    return true;
  });
}

void resolve_subgraphs(const Graph& outer, Node& node) {
  for (auto& [key, attribute] : node.attributes) {
    const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
    if (body == nullptr) continue;
    // The builder made it, as a Graph, and has handed it to nobody yet.
    Graph& mutable_body = const_cast<Graph&>(**body);  // NOLINT
    take_weights(outer, mutable_body);
    resolve_aliases(mutable_body);
  }
}

// Backwards, so that a chain of unread Identities goes whole.
void remove_unread_identities(Graph& graph) {
  std::vector<std::uint32_t> reads(graph.values.size(), 0);
  for (ValueId id : graph.outputs) ++reads[id];
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.inputs) {
      if (id != no_value) ++reads[id];
    }
    for (const auto& [key, attribute] : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      for (const Capture& capture : (*body)->captures) ++reads[capture.outer];
    }
  }
  std::vector<bool> dead(graph.nodes.size(), false);
  for (std::size_t index = graph.nodes.size(); index-- > 0;) {
    const Node& node = graph.nodes[index];
    if (!is_identity(node) || reads[node.outputs[0]] != 0) continue;
    dead[index] = true;
    --reads[node.inputs[0]];
  }
  remove_nodes(graph.nodes, [&](const Node&, std::size_t index) { return dead[index]; });
}

}  // namespace

void resolve_aliases(Graph& graph) {
  remove_nodes(graph.nodes, [&](const Node& node, std::size_t) {
    if (!is_identity(node)) return false;
    const auto& stored = graph.values[node.inputs[0]].stored;
    if (stored == nullptr) return false;
    graph.values[node.outputs[0]].stored = stored;
    return true;
  });
  for (Node& node : graph.nodes) resolve_subgraphs(graph, node);
  remove_unread_identities(graph);
}

}  // namespace plimsoll::tensor::onnx
