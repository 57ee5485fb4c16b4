#include "tensor/import/topological_order.h"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll::tensor::onnx {
namespace {

constexpr std::uint32_t no_node = UINT32_MAX;

// Calls visit(value) for everything that the node or a subgraph of it reads in this graph.
template <typename Visit>
void for_each_read(const Node& node, Visit visit) {
  for (ValueId id : node.inputs) {
    if (id != no_value) visit(id);
  }
  for (const auto& [key, attribute] : node.attributes) {
    const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
    if (body == nullptr) continue;
    for (const Capture& capture : (*body)->captures) visit(capture.outer);
  }
}

std::vector<std::uint32_t> makers_of(const Graph& graph) {
  std::vector<std::uint32_t> makers(graph.values.size(), no_node);
  for (std::uint32_t index = 0; index < graph.nodes.size(); ++index) {
    for (ValueId id : graph.nodes[index].outputs) {
      if (id != no_value) makers[id] = index;
    }
  }
  return makers;
}

bool is_sorted(const Graph& graph, const std::vector<std::uint32_t>& makers) {
  for (std::uint32_t index = 0; index < graph.nodes.size(); ++index) {
    bool ready = true;
    for_each_read(graph.nodes[index], [&](ValueId id) {
      if (makers[id] != no_node && makers[id] >= index) ready = false;
    });
    if (!ready) return false;
  }
  return true;
}

// Every node that is left waits for another that is left, so following the makers must come back.
[[noreturn]] void fail_cycle(const Graph& graph, const std::vector<std::uint32_t>& makers,
                             const std::vector<std::uint32_t>& waiting) {
  std::uint32_t node = 0;
  while (waiting[node] == 0) ++node;
  std::vector<bool> visited(graph.nodes.size(), false);
  ValueId through = no_value;
  while (!visited[node]) {
    visited[node] = true;
    std::uint32_t next = no_node;
    for_each_read(graph.nodes[node], [&](ValueId id) {
      if (next != no_node || makers[id] == no_node || waiting[makers[id]] == 0) return;
      next = makers[id];
      through = id;
    });
    node = next;
  }
  fail_input(
      fmt::format("the graph has a cycle: node {} makes '{}', which it needs itself to run: "
                  "export the model again",
                  graph.nodes[node].label(), graph.values[through].name));
}

}  // namespace

void sort_nodes(Graph& graph) {
  const std::vector<std::uint32_t> makers = makers_of(graph);
  if (is_sorted(graph, makers)) return;

  const std::size_t count = graph.nodes.size();
  std::vector<std::vector<std::uint32_t>> readers(count);
  std::vector<std::uint32_t> waiting(count, 0);
  for (std::uint32_t index = 0; index < count; ++index) {
    for_each_read(graph.nodes[index], [&](ValueId id) {
      if (makers[id] == no_node) return;
      readers[makers[id]].push_back(index);
      ++waiting[index];
    });
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t index = 0; index < count; ++index) {
    if (waiting[index] == 0) ready.push(index);
  }
  std::vector<Node> sorted;
  sorted.reserve(count);
  while (!ready.empty()) {
    const std::uint32_t index = ready.top();
    ready.pop();
    for (std::uint32_t reader : readers[index]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
    sorted.push_back(std::move(graph.nodes[index]));
    graph.nodes[index] = {};
  }
  if (sorted.size() != count) fail_cycle(graph, makers, waiting);
  graph.nodes = std::move(sorted);
}

}  // namespace plimsoll::tensor::onnx
