// ModelProto, GraphProto, NodeProto, FunctionProto. Field numbers are onnx.proto's.
#include <fmt/format.h>

#include <utility>

#include "plimsoll/error.h"
#include "tensor/import/read_messages.h"

namespace plimsoll::tensor::onnx {
namespace {

/// "ai.onnx" and "" are the same domain.
std::string read_domain(WireReader& wire, const WireReader::Field& field) {
  std::string domain = wire.text(field, longest_name, "a domain");
  if (domain == "ai.onnx") domain.clear();
  return domain;
}

std::string read_name(WireReader& wire, const WireReader::Field& field) {
  return wire.text(field, longest_name, "a name");
}

void add_name(WireReader& wire, const WireReader::Field& field, std::vector<std::string>& names) {
  wire.limit().charge(sizeof(std::string));
  names.push_back(read_name(wire, field));
}

// ValueInfoProto: 1 name, 2 type.
ValueMessage read_value(WireReader& wire) {
  ValueMessage value;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        value.name = read_name(wire, field);
        break;
      case 2:
        value.type = wire.message(field, read_type);
        break;
      default:
        wire.skip(field);
    }
  }
  return value;
}

void add_value(WireReader& wire, const WireReader::Field& field,
               std::vector<ValueMessage>& values) {
  wire.limit().charge(sizeof(ValueMessage) + sizeof(Value));
  values.push_back(wire.message(field, read_value));
}

void add_attribute(ReadContext& context, const WireReader::Field& field,
                   std::vector<AttributeMessage>& attributes) {
  context.wire.limit().charge(sizeof(AttributeMessage));
  attributes.push_back(
      context.wire.message(field, [&](WireReader&) { return read_attribute(context); }));
}

// Tools give the tensors of all Constants the same name or none; the value's name tells them apart.
// Done here, not where the node is resolved, so that a function's Constant stays one tensor however
// often the function is called.
void name_constant(NodeMessage& node) {
  if (node.op_type != "Constant" || !node.domain.empty() || node.outputs.size() != 1) return;
  for (AttributeMessage& attribute : node.attributes) {
    auto* tensor = std::get_if<std::shared_ptr<const StoredTensor>>(&attribute.value);
    if (tensor == nullptr || (*tensor)->name == node.outputs[0]) continue;
    auto named = std::make_shared<StoredTensor>(**tensor);
    named->name = node.outputs[0];
    *tensor = std::move(named);
  }
}

// NodeProto: 1 input, 2 output, 3 name, 4 op_type, 5 attribute, 7 domain, 8 overload.
NodeMessage read_node(ReadContext& context) {
  WireReader& wire = context.wire;
  NodeMessage node;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        add_name(wire, field, node.inputs);
        break;
      case 2:
        add_name(wire, field, node.outputs);
        break;
      case 3:
        node.name = read_name(wire, field);
        break;
      case 4:
        node.op_type = read_name(wire, field);
        break;
      case 5:
        add_attribute(context, field, node.attributes);
        break;
      case 7:
        node.domain = read_domain(wire, field);
        break;
      case 8:
        node.overload = read_name(wire, field);
        break;
      default:
        wire.skip(field);
    }
  }
  if (node.op_type.empty()) {
    wire.fail(fmt::format("node '{}' names no operator", node.name));
  }
  name_constant(node);
  return node;
}

void add_node(ReadContext& context, const WireReader::Field& field,
              std::vector<NodeMessage>& nodes) {
  context.wire.limit().charge(sizeof(NodeMessage));
  nodes.push_back(context.wire.message(field, [&](WireReader&) { return read_node(context); }));
}

// OperatorSetIdProto: 1 domain, 2 version.
void add_opset(WireReader& wire, std::map<std::string, int>& opsets) {
  std::string domain;
  std::int64_t version = 0;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        domain = read_domain(wire, field);
        break;
      case 2:
        version = wire.integer(field);
        break;
      default:
        wire.skip(field);
    }
  }
  // Domains number their versions from 1; the standard one has reached 26.
  constexpr std::int64_t largest_version = 1'000'000;
  if (version < 0 || version > largest_version) {
    wire.fail(fmt::format("domain '{}' is imported in version {}", domain, version));
  }
  wire.limit().charge(sizeof(std::pair<std::string, int>));
  const auto [found, added] = opsets.emplace(std::move(domain), static_cast<int>(version));
  if (!added && found->second != version) {
    wire.fail(fmt::format("domain '{}' is imported in two versions, {} and {}", found->first,
                          found->second, version));
  }
}

// FunctionProto: 1 name, 4 input, 5 output, 7 node, 9 opset_import, 10 domain, 11 attribute_proto,
// 13 overload. (6 attribute lists the names of attributes without defaults: the references in the
// nodes say the same.)
FunctionMessage read_function(ReadContext& context) {
  WireReader& wire = context.wire;
  FunctionMessage function;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        function.name = read_name(wire, field);
        break;
      case 4:
        add_name(wire, field, function.inputs);
        break;
      case 5:
        add_name(wire, field, function.outputs);
        break;
      case 7:
        add_node(context, field, function.nodes);
        break;
      case 9:
        wire.message(field, [&](WireReader&) { add_opset(wire, function.opsets); });
        break;
      case 10:
        function.domain = read_domain(wire, field);
        break;
      case 11:
        add_attribute(context, field, function.defaults);
        break;
      case 13:
        function.overload = read_name(wire, field);
        break;
      default:
        wire.skip(field);
    }
  }
  return function;
}

// SparseTensorProto: 1 values (a TensorProto, which has the name). Kept as a name: an error only
// where it is read.
std::shared_ptr<const StoredTensor> read_sparse(ReadContext& context) {
  std::string name;
  WireReader::Field field;
  while (context.wire.next(field)) {
    if (field.number == 1) {
      name = context.wire.message(field, [&](WireReader&) { return read_tensor(context); })->name;
    } else {
      context.wire.skip(field);
    }
  }
  auto tensor = std::make_shared<StoredTensor>();
  tensor->name = std::move(name);
  tensor->source = Unreadable{"sparse tensors are not supported: store it as a dense one"};
  return tensor;
}

void add_initializer(GraphMessage& graph, WireReader& wire,
                     std::shared_ptr<const StoredTensor> tensor) {
  wire.limit().charge(sizeof(StoredTensor) + sizeof(Value));
  if (tensor->name.empty()) wire.fail("an initialiser has no name");
  graph.initializers.push_back(std::move(tensor));
}

}  // namespace

std::string NodeMessage::label() const {
  std::string operation = domain.empty() ? op_type : fmt::format("{}.{}", domain, op_type);
  if (!name.empty()) return fmt::format("{} '{}'", operation, name);
  if (outputs.empty()) return operation;
  return fmt::format("{} that makes '{}'", operation, outputs.front());
}

// GraphProto: 1 node, 2 name, 5 initializer, 11 input, 12 output, 15 sparse_initializer.
GraphMessage read_graph(ReadContext& context) {
  WireReader& wire = context.wire;
  wire.limit().charge(sizeof(GraphMessage) + sizeof(Graph));
  GraphMessage graph;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        add_node(context, field, graph.nodes);
        break;
      case 2:
        graph.name = read_name(wire, field);
        break;
      case 5:
        add_initializer(graph, wire,
                        wire.message(field, [&](WireReader&) { return read_tensor(context); }));
        break;
      case 11:
        add_value(wire, field, graph.inputs);
        break;
      case 12:
        add_value(wire, field, graph.outputs);
        break;
      case 15:
        add_initializer(graph, wire,
                        wire.message(field, [&](WireReader&) { return read_sparse(context); }));
        break;
      default:
        wire.skip(field);
    }
  }
  return graph;
}

// ModelProto: 1 ir_version, 2 producer_name, 7 graph, 8 opset_import, 25 functions.
ModelMessage read_model(ReadContext& context) {
  WireReader& wire = context.wire;
  ModelMessage model;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        model.ir_version = wire.integer(field);
        break;
      case 2:
        model.producer = read_name(wire, field);
        break;
      case 7:
        if (model.graph) wire.fail("the model has two graphs");
        model.graph = wire.message(field, [&](WireReader&) { return read_graph(context); });
        break;
      case 8:
        wire.message(field, [&](WireReader&) { add_opset(wire, model.opsets); });
        break;
      case 25:
        wire.limit().charge(sizeof(FunctionMessage));
        model.functions.push_back(
            wire.message(field, [&](WireReader&) { return read_function(context); }));
        break;
      default:
        wire.skip(field);
    }
  }
  return model;
}

}  // namespace plimsoll::tensor::onnx
