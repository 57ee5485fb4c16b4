// Names → value numbers: scopes, functions, order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <queue>
#include <set>
#include <unordered_map>

#include "plimsoll/error.h"
#include "tensor/import/onnx.h"
#include "tensor/import/onnx_messages.h"

namespace plimsoll::tensor {
namespace {

using onnx::AttributeMessage;
using onnx::FunctionMessage;
using onnx::GraphMessage;
using onnx::ModelMessage;
using onnx::NodeMessage;

/// Functions may call functions; a chain longer than this calls itself.
constexpr int deepest_calls = 32;

/// Names read by a subgraph that it does not define itself.
void collect_free_names(const GraphMessage& graph, std::set<std::string>& free) {
  std::set<std::string> defined;
  for (const auto& value : graph.inputs) defined.insert(value.name);
  for (const auto& tensor : graph.initializers) defined.insert(tensor->name);
  for (const auto& node : graph.nodes) defined.insert(node.outputs.begin(), node.outputs.end());
  std::set<std::string> read;
  for (const auto& value : graph.outputs) read.insert(value.name);
  for (const auto& node : graph.nodes) {
    read.insert(node.inputs.begin(), node.inputs.end());
    for (const auto& attribute : node.attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<const GraphMessage>>(&attribute.value)) {
        collect_free_names(**body, read);
      }
    }
  }
  for (const auto& name : read) {
    if (!name.empty() && !defined.contains(name)) free.insert(name);
  }
}

/// Order in which every node comes after the makers of what it reads. The given order where that
/// holds already; otherwise Kahn's, the earliest ready node first.
std::vector<std::size_t> execution_order(const std::vector<NodeMessage>& nodes) {
  std::unordered_map<std::string, std::size_t> maker;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    for (const auto& name : nodes[index].outputs) {
      if (name.empty()) continue;
      if (!maker.emplace(name, index).second) {
        fail_input(fmt::format("value '{}' is made by two nodes", name));
      }
    }
  }
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  std::vector<std::size_t> waiting(nodes.size(), 0);
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    std::set<std::string> reads(nodes[index].inputs.begin(), nodes[index].inputs.end());
    for (const auto& attribute : nodes[index].attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<const GraphMessage>>(&attribute.value)) {
        collect_free_names(**body, reads);
      }
    }
    for (const auto& name : reads) {
      const auto found = maker.find(name);
      if (found == maker.end()) continue;
      readers[found->second].push_back(index);
      ++waiting[index];
    }
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    if (waiting[index] == 0) ready.push(index);
  }
  std::vector<std::size_t> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const std::size_t index = ready.top();
    ready.pop();
    order.push_back(index);
    for (std::size_t reader : readers[index]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() != nodes.size()) {
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      if (waiting[index] == 0) continue;
      fail_input(fmt::format("the graph has a cycle through node {} '{}'", nodes[index].op_type,
                             nodes[index].name));
    }
  }
  return order;
}

std::shared_ptr<const StoredTensor> small_tensor(const std::string& name, ElementType type,
                                                 const Shape& shape, const void* data,
                                                 std::size_t bytes) {
  auto tensor = std::make_shared<StoredTensor>();
  tensor->name = name;
  tensor->type = type;
  tensor->storage.element = type;
  tensor->shape = shape;
  const auto* first = static_cast<const std::byte*>(data);
  tensor->source = SmallBytes(first, first + bytes);
  return tensor;
}

/// The tensor of a Constant node; null for the kinds that hold none (strings, sparse).
std::shared_ptr<const StoredTensor> constant_tensor(const Node& node, const std::string& name) {
  for (const auto& [key, value] : node.attributes) {
    if (const auto* tensor = std::get_if<std::shared_ptr<const StoredTensor>>(&value)) {
      return *tensor;
    }
    if (const auto* real = std::get_if<float>(&value)) {
      return small_tensor(name, ElementType::f32, {}, real, sizeof(*real));
    }
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      return small_tensor(name, ElementType::i64, {}, integer, sizeof(*integer));
    }
    if (const auto* reals = std::get_if<std::vector<float>>(&value)) {
      return small_tensor(name, ElementType::f32, {static_cast<std::int64_t>(reals->size())},
                          reals->data(), reals->size() * sizeof(float));
    }
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
      return small_tensor(name, ElementType::i64, {static_cast<std::int64_t>(integers->size())},
                          integers->data(), integers->size() * sizeof(std::int64_t));
    }
  }
  auto text = std::make_shared<StoredTensor>();
  text->name = name;
  text->type = ElementType::string;
  text->source = Unbound{};
  return text;
}

/// Names visible in one graph, and the graph around it.
struct Scope {
  Graph* graph = nullptr;
  Scope* outer = nullptr;
  std::unordered_map<std::string, ValueId> names;

  ValueId add(const std::string& name) {
    const auto id = static_cast<ValueId>(graph->values.size());
    if (!names.emplace(name, id).second) {
      fail_input(fmt::format("value '{}' is defined twice", name));
    }
    graph->values.push_back({name, {}, {}});
    return id;
  }
  /// The value's number here; what an outer graph defines becomes a capture.
  std::optional<ValueId> find(const std::string& name) {
    if (const auto found = names.find(name); found != names.end()) return found->second;
    if (outer == nullptr) return std::nullopt;
    const auto there = outer->find(name);
    if (!there) return std::nullopt;
    const ValueId here = add(name);
    // A weight stays a weight inside: no need to pass it.
    graph->values[here].stored = outer->graph->values[*there].stored;
    if (!graph->values[here].stored) graph->captures.push_back({here, *there});
    return here;
  }
};

class Resolver {
 public:
  explicit Resolver(const ModelMessage& model) : model_(model) {
    for (const FunctionMessage& function : model.functions) {
      functions_.emplace(function.domain + ":" + function.name, &function);
    }
  }

  void graph(const GraphMessage& message, Scope& scope) {
    Graph& graph = *scope.graph;
    graph.name = message.name;
    for (const auto& tensor : message.initializers) {
      graph.values[scope.add(tensor->name)].stored = tensor;
    }
    for (const auto& input : message.inputs) {
      const auto existing = scope.names.find(input.name);
      if (existing != scope.names.end()) {
        if (!graph.values[existing->second].stored || graph.values[existing->second].declared) {
          fail_input(fmt::format("input '{}' is declared twice", input.name));
        }
        graph.values[existing->second].declared = input.type;
        continue;
      }
      const ValueId id = scope.add(input.name);
      graph.values[id].declared = input.type;
      graph.inputs.push_back(id);
    }
    std::unordered_map<std::string, std::string> no_renames;
    nodes(message.nodes, scope, "", no_renames, {}, model_.opsets, 0);
    for (const auto& output : message.outputs) {
      const auto id = scope.find(output.name);
      if (!id) fail_input(fmt::format("output '{}' is made by no node", output.name));
      graph.outputs.push_back(*id);
      if (!graph.values[*id].declared) graph.values[*id].declared = output.type;
    }
  }

 private:
  using Renames = std::unordered_map<std::string, std::string>;
  using Arguments = std::map<std::string, const AttributeMessage*>;

  void nodes(const std::vector<NodeMessage>& messages, Scope& scope, const std::string& prefix,
             Renames& renames, const Arguments& arguments, const std::map<std::string, int>& opsets,
             int calls) {
    for (std::size_t index : execution_order(messages)) {
      try {
        node(messages[index], scope, prefix, renames, arguments, opsets, calls);
      } catch (Error& error) {
        error.add_context(
            fmt::format("node {} '{}'", messages[index].op_type, messages[index].name));
        throw;
      }
    }
  }

  void node(const NodeMessage& message, Scope& scope, const std::string& prefix, Renames& renames,
            const Arguments& arguments, const std::map<std::string, int>& opsets, int calls) {
    const auto renamed = [&](const std::string& name) {
      const auto found = renames.find(name);
      return found != renames.end() ? found->second : prefix + name;
    };
    if (const auto function = functions_.find(message.domain + ":" + message.op_type);
        function != functions_.end()) {
      call(*function->second, message, scope, renamed, arguments, calls);
      return;
    }
    Node node;
    node.op_type = message.op_type;
    node.domain = message.domain;
    node.name = message.name;
    const auto opset = opsets.find(message.domain);
    if (opset != opsets.end()) node.opset = opset->second;
    // A function may use the model's domains without importing them itself.
    if (opset == opsets.end()) {
      const auto outer = model_.opsets.find(message.domain);
      node.opset = outer == model_.opsets.end() ? 1 : outer->second;
    }
    for (const auto& name : message.inputs) {
      if (name.empty()) {
        node.inputs.push_back(no_value);
        continue;
      }
      const auto id = scope.find(renamed(name));
      if (!id) fail_input(fmt::format("it reads '{}', which nothing defines", name));
      node.inputs.push_back(*id);
    }
    for (const AttributeMessage& attribute : message.attributes) {
      const AttributeMessage* source = &attribute;
      if (!attribute.reference.empty()) {
        const auto argument = arguments.find(attribute.reference);
        if (argument == arguments.end()) continue;  // the caller left it to the operator's default
        source = argument->second;
      }
      set_attribute(node, attribute.name, *source, scope, prefix, renames);
    }
    const std::string first = message.outputs.empty() ? "" : renamed(message.outputs[0]);
    if (node.domain.empty() && node.op_type == "Constant" && message.outputs.size() == 1) {
      scope.graph->values[scope.add(first)].stored = constant_tensor(node, first);
      return;
    }
    if (node.domain.empty() && node.op_type == "Identity" && node.inputs.size() == 1 &&
        node.inputs[0] != no_value && message.outputs.size() == 1) {
      // Copied before add(), which may move the values.
      const auto stored = scope.graph->values[node.inputs[0]].stored;
      if (stored) {
        scope.graph->values[scope.add(first)].stored = stored;
        return;
      }
    }
    for (const auto& name : message.outputs) {
      node.outputs.push_back(name.empty() ? no_value : scope.add(renamed(name)));
    }
    scope.graph->nodes.push_back(std::move(node));
  }

  void set_attribute(Node& node, const std::string& name, const AttributeMessage& source,
                     Scope& scope, const std::string& prefix, const Renames& renames) {
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::shared_ptr<const GraphMessage>>) {
            if (!prefix.empty() || !renames.empty()) {
              fail_unsupported("a subgraph inside a model-local function is not supported");
            }
            auto body = std::make_shared<Graph>();
            Scope inner{body.get(), &scope, {}};
            graph(*value, inner);
            node.attributes.emplace(name, std::shared_ptr<const Graph>(std::move(body)));
          } else if constexpr (!std::is_same_v<T, std::monostate>) {
            node.attributes.emplace(name, value);
          }
        },
        source.value);
  }

  template <typename Renamed>
  void call(const FunctionMessage& function, const NodeMessage& message, Scope& scope,
            const Renamed& renamed, const Arguments& outer_arguments, int calls) {
    if (calls >= deepest_calls) fail_input("model-local functions call each other without end");
    const std::string prefix = fmt::format("{}#{}/", function.name, ++call_count_);
    Renames inner;
    for (std::size_t index = 0; index < function.inputs.size(); ++index) {
      const bool given = index < message.inputs.size() && !message.inputs[index].empty();
      inner.emplace(function.inputs[index], given ? renamed(message.inputs[index]) : "");
    }
    for (std::size_t index = 0; index < function.outputs.size(); ++index) {
      const bool wanted = index < message.outputs.size() && !message.outputs[index].empty();
      if (wanted) inner.emplace(function.outputs[index], renamed(message.outputs[index]));
    }
    Arguments arguments;
    for (const auto& attribute : function.defaults) arguments[attribute.name] = &attribute;
    for (const auto& attribute : message.attributes) {
      const AttributeMessage* source = &attribute;
      if (!attribute.reference.empty()) {
        const auto argument = outer_arguments.find(attribute.reference);
        if (argument == outer_arguments.end()) continue;
        source = argument->second;
      }
      arguments[attribute.name] = source;
    }
    // An input that the caller leaves out is an omitted input of the body's nodes.
    std::vector<NodeMessage> body = function.nodes;
    for (NodeMessage& node : body) {
      for (std::string& name : node.inputs) {
        const auto found = inner.find(name);
        if (found != inner.end() && found->second.empty()) name.clear();
      }
    }
    nodes(body, scope, prefix, inner, arguments, function.opsets, calls + 1);
  }

  const ModelMessage& model_;
  std::unordered_map<std::string, const FunctionMessage*> functions_;
  int call_count_ = 0;
};

/// What the file is, where it is plainly no ONNX model; empty where it may be one.
std::string not_a_model(const SourceFile& file) {
  std::array<std::byte, 64> head{};
  const std::size_t length = std::min<std::uint64_t>(head.size(), file.size());
  file.read(0, std::span(head).first(length));
  const std::string_view text(reinterpret_cast<const char*>(head.data()), length);
  if (text.empty()) return "is empty; download it again";
  if (text.starts_with("version https://git-lfs")) {
    return "is a Git LFS pointer, not the model: run 'git lfs pull' where it came from";
  }
  if (text.starts_with("PK\x03\x04")) return "is a zip archive: unpack it and give the .onnx file";
  if (text.front() == '<') return "is an HTML or XML page, not a model: check the download";
  if (text.front() == '{' || text.front() == '[') {
    return "is JSON text, not a model: check the download";
  }
  const bool printable = std::ranges::all_of(text, [](unsigned char c) {
    return std::isprint(c) != 0 || c == '\n' || c == '\r' || c == '\t';
  });
  if (printable) {
    return "is text, not a binary ONNX model (a text-format protobuf must be converted first)";
  }
  return {};
}

}  // namespace

std::shared_ptr<const ModelGraph> import_onnx(const std::string& path) {
  const auto file = SourceFile::open(path);
  if (const std::string why = not_a_model(*file); !why.empty()) {
    fail_input(fmt::format("'{}' {}", path, why));
  }
  WireReader reader(file);
  ModelMessage message;
  auto model = std::make_shared<ModelGraph>();
  try {
    message = onnx::read_model(reader);
    if (!message.has_graph) fail_input("it holds no graph, so it is no ONNX model");
    if (message.opsets.empty()) message.opsets.emplace("", 1);
    model->path = path;
    model->producer = message.producer;
    model->ir_version = message.ir_version;
    model->opsets = message.opsets;
    Scope scope{&model->main, nullptr, {}};
    Resolver(message).graph(message.graph, scope);
  } catch (Error& error) {
    error.add_context(fmt::format("model '{}'", path));
    throw;
  }
  return model;
}

}  // namespace plimsoll::tensor
