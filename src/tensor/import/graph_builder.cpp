#include "tensor/import/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "plimsoll/error.h"
#include "tensor/import/aliases.h"
#include "tensor/import/constant_node.h"
#include "tensor/import/topological_order.h"

namespace plimsoll::tensor::onnx {
namespace {

// Subgraphs within subgraphs and calls within calls, together. Protobuf allows about 33 subgraphs;
// the rest is for calls. Bounds the stack: a thread of ours has 256 KiB.
constexpr int deepest_scope = 64;

// What a function's attribute references stand for in one call.
using Arguments = std::map<std::string_view, const AttributeMessage*>;

// The names of one graph, or of one function body within a graph.
struct Scope {
  Graph& graph;            // where values and nodes go
  Scope* outer = nullptr;  // of the enclosing graph, for a subgraph
  const std::map<std::string, int>* opsets = nullptr;
  const Arguments* arguments = nullptr;  // within a function
  std::string prefix;                    // of the names of a function's inner values
  int depth = 0;
  // no_value: an input that the function's caller omits. Keys are the messages' own strings.
  std::unordered_map<std::string_view, ValueId> names;
  // Values of the caller that the function's outputs are.
  std::unordered_map<std::string_view, ValueId> results;
};

class GraphBuilder {
 public:
  GraphBuilder(const ModelMessage& model, StructureLimit& limit);
  void add_graph(const GraphMessage& message, Scope& scope);

 private:
  ValueId add_value(Graph& graph, std::string name);
  void define(Scope& scope, const std::string& name);
  ValueId find(Scope& scope, std::string_view name);
  ValueId capture(Scope& scope, std::string_view name);

  void add_initializers(const GraphMessage& message, Scope& scope);
  void add_inputs(const GraphMessage& message, Scope& scope);
  void add_outputs(const GraphMessage& message, Scope& scope);
  void add_nodes(const std::vector<NodeMessage>& messages, Scope& scope);
  void add_node(const NodeMessage& message, Scope& scope);
  void add_call(const FunctionMessage& function, const NodeMessage& message, Scope& scope);
  void bind_inputs(const FunctionMessage& function, const NodeMessage& message, Scope& scope,
                   Scope& body);
  void finish_results(const FunctionMessage& function, Scope& body);
  void add_attribute(const AttributeMessage& attribute, Scope& scope, Node& node);
  std::shared_ptr<const Graph> add_subgraph(const GraphMessage& message, Scope& scope);
  [[nodiscard]] int opset_of(const std::string& domain, const Scope& scope) const;
  [[nodiscard]] const FunctionMessage* function_of(const NodeMessage& node) const;

  const ModelMessage& model_;
  StructureLimit& limit_;
  std::unordered_map<std::string, const FunctionMessage*> functions_;
  std::vector<const FunctionMessage*> calls_;  // being expanded, outermost first
};

std::string function_key(const std::string& domain, const std::string& name,
                         const std::string& overload) {
  std::string key = domain;
  key.push_back('\0');
  key.append(name);
  key.push_back('\0');
  key.append(overload);
  return key;
}

// The attribute itself, or what the function's caller gave for it; null where it gave nothing.
const AttributeMessage* referred(const AttributeMessage& attribute, const Scope& scope) {
  if (attribute.reference.empty()) return &attribute;
  if (scope.arguments == nullptr) {
    fail_input(fmt::format("attribute '{}' refers to '{}' of a function, but is in none",
                           attribute.name, attribute.reference));
  }
  const auto found = scope.arguments->find(attribute.reference);
  return found == scope.arguments->end() ? nullptr : found->second;
}

GraphBuilder::GraphBuilder(const ModelMessage& model, StructureLimit& limit)
    : model_(model), limit_(limit) {
  for (const FunctionMessage& function : model.functions) {
    const std::string key = function_key(function.domain, function.name, function.overload);
    if (!functions_.emplace(key, &function).second) {
      fail_input(fmt::format("function '{}' is defined twice", function.name));
    }
  }
}

ValueId GraphBuilder::add_value(Graph& graph, std::string name) {
  limit_.charge(sizeof(Value) + name.size());
  const auto id = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({std::move(name), {}, {}});
  return id;
}

void GraphBuilder::define(Scope& scope, const std::string& name) {
  const auto result = scope.results.find(name);
  const ValueId id =
      result != scope.results.end() ? result->second : add_value(scope.graph, scope.prefix + name);
  if (!scope.names.emplace(name, id).second) {
    fail_input(fmt::format("value '{}' is defined twice: export the model again", name));
  }
}

// The number of a name, or no_value for an omitted one. Throws where nothing defines it.
ValueId GraphBuilder::find(Scope& scope, std::string_view name) {
  if (name.empty()) return no_value;
  const auto found = scope.names.find(name);
  if (found != scope.names.end()) return found->second;
  if (scope.outer == nullptr) {
    fail_input(
        fmt::format("value '{}' is read, but nothing defines it: export the model again", name));
  }
  return capture(scope, name);
}

ValueId GraphBuilder::capture(Scope& scope, std::string_view name) {
  const ValueId outer = find(*scope.outer, name);
  ValueId inner = no_value;
  if (outer != no_value) {
    inner = add_value(scope.graph, scope.outer->graph.values[outer].name);
    limit_.charge(sizeof(Capture));
    scope.graph.captures.push_back({inner, outer});
  }
  scope.names.emplace(name, inner);
  return inner;
}

void GraphBuilder::add_initializers(const GraphMessage& message, Scope& scope) {
  for (const auto& tensor : message.initializers) {
    define(scope, tensor->name);
    scope.graph.values.back().stored = tensor;
  }
}

// An input that an initialiser gives a value is none: only old files list it, and this build does
// not let a caller replace weights.
void GraphBuilder::add_inputs(const GraphMessage& message, Scope& scope) {
  for (const ValueMessage& input : message.inputs) {
    if (input.name.empty()) fail_input("an input of the graph has no name");
    const auto found = scope.names.find(input.name);
    if (found != scope.names.end() && scope.graph.values[found->second].stored != nullptr &&
        !scope.graph.values[found->second].declared) {
      scope.graph.values[found->second].declared = input.type.value_or(DeclaredType{});
      continue;
    }
    define(scope, input.name);
    const ValueId id = scope.names.at(input.name);
    scope.graph.values[id].declared = input.type;
    scope.graph.inputs.push_back(id);
  }
}

void GraphBuilder::add_outputs(const GraphMessage& message, Scope& scope) {
  for (const ValueMessage& output : message.outputs) {
    try {
      const ValueId id = find(scope, output.name);
      if (id == no_value) fail_input("it has no value");
      scope.graph.outputs.push_back(id);
      Value& value = scope.graph.values[id];
      if (!value.declared) value.declared = output.type;
    } catch (Error& error) {
      error.add_context(fmt::format("output '{}' of the graph", output.name));
      throw;
    }
  }
}

void GraphBuilder::add_graph(const GraphMessage& message, Scope& scope) {
  scope.graph.name = message.name;
  add_initializers(message, scope);
  add_inputs(message, scope);
  add_nodes(message.nodes, scope);
  add_outputs(message, scope);
  sort_nodes(scope.graph);
}

void GraphBuilder::add_nodes(const std::vector<NodeMessage>& messages, Scope& scope) {
  // All names first: a node may stand before the one that makes its input.
  for (const NodeMessage& message : messages) {
    for (const std::string& output : message.outputs) {
      if (!output.empty()) define(scope, output);
    }
  }
  for (const NodeMessage& message : messages) {
    try {
      add_node(message, scope);
    } catch (Error& error) {
      error.add_context(fmt::format("node {}", message.label()));
      throw;
    }
  }
}

void GraphBuilder::add_node(const NodeMessage& message, Scope& scope) {
  if (const FunctionMessage* function = function_of(message)) {
    return add_call(*function, message, scope);
  }
  limit_.charge(sizeof(Node) + message.name.size() +
                (message.inputs.size() + message.outputs.size()) * sizeof(ValueId));
  Node node;
  node.op_type = message.op_type;
  node.domain = message.domain;
  node.name = scope.prefix.empty() ? message.name : scope.prefix + message.name;
  node.opset = opset_of(message.domain, scope);
  for (const std::string& input : message.inputs) node.inputs.push_back(find(scope, input));
  while (!node.inputs.empty() && node.inputs.back() == no_value) node.inputs.pop_back();
  for (const std::string& output : message.outputs) {
    node.outputs.push_back(find(scope, output));
  }
  for (const AttributeMessage& attribute : message.attributes) {
    add_attribute(attribute, scope, node);
  }
  if (node.domain.empty() && node.op_type == "Constant") {
    if (node.outputs.size() != 1) fail_input("a Constant must have one output");
    if (node.outputs[0] == no_value) return;
    Value& value = scope.graph.values[node.outputs[0]];
    value.stored = constant_tensor(node, value.name);
    return;
  }
  scope.graph.nodes.push_back(std::move(node));
}

void GraphBuilder::add_attribute(const AttributeMessage& attribute, Scope& scope, Node& node) {
  const AttributeMessage* source = referred(attribute, scope);
  if (source == nullptr) return;
  limit_.charge(sizeof(AttributeValue) + attribute.name.size());
  AttributeValue value;
  if (const auto* graph = std::get_if<std::shared_ptr<const GraphMessage>>(&source->value)) {
    if (source != &attribute) {
      fail_unsupported(
          fmt::format("attribute '{}': a graph as argument of a function", attribute.name));
    }
    value = add_subgraph(**graph, scope);
  } else {
    const bool given = std::visit(
        [&](const auto& from) {
          using T = std::decay_t<decltype(from)>;
          if constexpr (std::is_constructible_v<AttributeValue, std::in_place_type_t<T>, T>) {
            value.emplace<T>(from);
            return true;
          } else {
            return false;
          }
        },
        source->value);
    if (!given) return;
  }
  if (!node.attributes.emplace(attribute.name, std::move(value)).second) {
    fail_input(fmt::format("attribute '{}' is given twice", attribute.name));
  }
}

std::shared_ptr<const Graph> GraphBuilder::add_subgraph(const GraphMessage& message, Scope& scope) {
  if (scope.depth == deepest_scope) {
    fail_unsupported(
        fmt::format("subgraphs and functions are nested more than {} levels deep", deepest_scope));
  }
  limit_.charge(sizeof(Graph));
  auto graph = std::make_shared<Graph>();
  Scope inner{.graph = *graph,
              .outer = &scope,
              .opsets = scope.opsets,
              .arguments = scope.arguments,
              .prefix = scope.prefix,
              .depth = scope.depth + 1,
              .names = {},
              .results = {}};
  add_graph(message, inner);
  return graph;
}

void GraphBuilder::bind_inputs(const FunctionMessage& function, const NodeMessage& message,
                               Scope& scope, Scope& body) {
  if (message.inputs.size() > function.inputs.size()) {
    fail_input(fmt::format("the function takes {} inputs, {} are given", function.inputs.size(),
                           message.inputs.size()));
  }
  for (std::size_t index = 0; index < function.inputs.size(); ++index) {
    const bool given = index < message.inputs.size();
    const ValueId id = given ? find(scope, message.inputs[index]) : no_value;
    if (!body.names.emplace(function.inputs[index], id).second) {
      fail_input(fmt::format("the function has two inputs '{}'", function.inputs[index]));
    }
  }
}

// Outputs that no node of the body makes: an input that is passed on needs a node to be a value of
// its own.
void GraphBuilder::finish_results(const FunctionMessage& function, Scope& body) {
  for (const std::string& name : function.outputs) {
    const auto result = body.results.find(name);
    if (result == body.results.end()) continue;  // the caller does not take it
    const auto found = body.names.find(name);
    if (found == body.names.end() || found->second == no_value) {
      fail_input(fmt::format("the function never makes its output '{}'", name));
    }
    if (found->second == result->second) continue;
    limit_.charge(sizeof(Node));
    Node identity;
    identity.op_type = "Identity";
    identity.name = fmt::format("{}{}", body.prefix, name);
    identity.opset = opset_of("", body);
    identity.inputs = {found->second};
    identity.outputs = {result->second};
    body.graph.nodes.push_back(std::move(identity));
  }
}

void GraphBuilder::add_call(const FunctionMessage& function, const NodeMessage& message,
                            Scope& scope) {
  if (std::ranges::find(calls_, &function) != calls_.end()) {
    fail_input(fmt::format("function '{}' calls itself, which never ends", function.name));
  }
  if (scope.depth == deepest_scope) {
    fail_unsupported(
        fmt::format("subgraphs and functions are nested more than {} levels deep", deepest_scope));
  }
  Arguments arguments;
  for (const AttributeMessage& attribute : function.defaults) {
    arguments[attribute.name] = &attribute;
  }
  for (const AttributeMessage& attribute : message.attributes) {
    const AttributeMessage* source = referred(attribute, scope);
    if (source != nullptr) arguments[attribute.name] = source;
  }
  const std::string& label = message.name.empty() ? message.op_type : message.name;
  Scope body{.graph = scope.graph,
             .outer = nullptr,
             .opsets = &function.opsets,
             .arguments = &arguments,
             .prefix = fmt::format("{}{}/", scope.prefix, label),
             .depth = scope.depth + 1,
             .names = {},
             .results = {}};
  bind_inputs(function, message, scope, body);
  if (message.outputs.size() > function.outputs.size()) {
    fail_input(fmt::format("the function has {} outputs, {} are taken", function.outputs.size(),
                           message.outputs.size()));
  }
  for (std::size_t index = 0; index < message.outputs.size(); ++index) {
    const ValueId id = find(scope, message.outputs[index]);
    if (id != no_value && !body.results.emplace(function.outputs[index], id).second) {
      fail_input(fmt::format("the function has two outputs '{}'", function.outputs[index]));
    }
  }
  calls_.push_back(&function);
  add_nodes(function.nodes, body);
  calls_.pop_back();
  finish_results(function, body);
}

const FunctionMessage* GraphBuilder::function_of(const NodeMessage& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(function_key(node.domain, node.op_type, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

int GraphBuilder::opset_of(const std::string& domain, const Scope& scope) const {
  // A function imports domains itself; what it leaves out is as the model has it.
  for (const auto* opsets : {scope.opsets, &model_.opsets}) {
    const auto found = opsets->find(domain);
    if (found != opsets->end()) return found->second;
  }
  // Before version 3 of the format models could import nothing, which meant version 1; other
  // domains than the standard one have no second version in practice.
  constexpr std::int64_t first_with_imports = 3;
  if (!domain.empty() || model_.ir_version < first_with_imports) return 1;
  fail_input(
      "the model does not say which version of the standard operators it uses "
      "(opset_import): export it again");
}

}  // namespace

Graph build_graph(const ModelMessage& model, StructureLimit& limit) {
  Graph graph;
  GraphBuilder builder(model, limit);
  Scope scope{.graph = graph,
              .outer = nullptr,
              .opsets = &model.opsets,
              .arguments = nullptr,
              .prefix = {},
              .depth = 0,
              .names = {},
              .results = {}};
  builder.add_graph(*model.graph, scope);
  resolve_aliases(graph);
  return graph;
}

}  // namespace plimsoll::tensor::onnx
