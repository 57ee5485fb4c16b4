// Field numbers are onnx.proto's, beside each message.
#include "tensor/import/onnx_messages.h"

#include <fmt/format.h>

#include <bit>

#include "plimsoll/error.h"

namespace plimsoll::tensor::onnx {
namespace {

/// Names come from tools that paste whole module paths together; a megabyte is a damaged file.
constexpr std::size_t longest_name = 1 << 16;
constexpr std::size_t longest_list = 1 << 22;

/// Reads the nested message of the current field with `read`.
template <typename Read>
auto nested(WireReader& reader, Read read) {
  const std::uint64_t outer = reader.enter(reader.length());
  auto result = read(reader);
  reader.leave(outer);
  return result;
}

// Dimension: 1 dim_value, 2 dim_param.
Dimension read_dimension(WireReader& reader) {
  Dimension dimension;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == 1 && field.wire_type == 0) {
      dimension.value = static_cast<std::int64_t>(reader.varint());
    } else if (field.number == 2 && field.wire_type == 2) {
      dimension.symbol = reader.text(longest_name);
    } else {
      reader.skip(field);
    }
  }
  return dimension;
}

// TensorShapeProto: 1 dim.
std::vector<Dimension> read_shape(WireReader& reader) {
  std::vector<Dimension> dimensions;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == 1 && field.wire_type == 2) {
      dimensions.push_back(nested(reader, read_dimension));
    } else {
      reader.skip(field);
    }
  }
  return dimensions;
}

// TypeProto: 1 tensor_type, 4 sequence_type, 9 optional_type; Tensor: 1 elem_type, 2 shape;
// Sequence and Optional: 1 elem_type (a TypeProto).
std::optional<DeclaredType> read_type(WireReader& reader) {
  std::optional<DeclaredType> type;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == 1 && field.wire_type == 2) {
      type = nested(reader, [](WireReader& inner) {
        DeclaredType tensor;
        WireReader::Field part;
        while (inner.next(part)) {
          if (part.number == 1 && part.wire_type == 0) {
            tensor.element = element_type_from_onnx(static_cast<std::int64_t>(inner.varint()))
                                 .value_or(ElementType::undefined);
          } else if (part.number == 2 && part.wire_type == 2) {
            tensor.dimensions = nested(inner, read_shape);
          } else {
            inner.skip(part);
          }
        }
        return tensor;
      });
    } else if ((field.number == 4 || field.number == 9) && field.wire_type == 2) {
      type = nested(reader, [](WireReader& inner) {
        std::optional<DeclaredType> element;
        WireReader::Field part;
        while (inner.next(part)) {
          if (part.number == 1 && part.wire_type == 2) {
            element = nested(inner, read_type);
          } else {
            inner.skip(part);
          }
        }
        return element;
      });
      if (!type) type.emplace();
      type->kind = field.number == 4 ? DeclaredType::Kind::sequence : DeclaredType::Kind::optional;
    } else {
      reader.skip(field);
    }
  }
  return type;
}

// ValueInfoProto: 1 name, 2 type.
ValueMessage read_value(WireReader& reader) {
  ValueMessage value;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == 1 && field.wire_type == 2) {
      value.name = reader.text(longest_name);
    } else if (field.number == 2 && field.wire_type == 2) {
      value.type = nested(reader, read_type);
    } else {
      reader.skip(field);
    }
  }
  return value;
}

GraphMessage read_graph(WireReader& reader);

// AttributeProto: 1 name, 2 f, 3 i, 4 s, 5 t, 6 g, 7 floats, 8 ints, 9 strings, 20 type,
// 21 ref_attr_name. AttributeProto.Type: 1 FLOAT, 2 INT, 3 STRING, 6 FLOATS, 7 INTS, 8 STRINGS.
AttributeMessage read_attribute(WireReader& reader) {
  AttributeMessage attribute;
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
  std::vector<std::string> strings;
  float real = 0;
  std::int64_t integer = 0;
  std::string text;
  std::uint64_t type = 0;
  std::uint32_t seen = 0;
  WireReader::Field field;
  while (reader.next(field)) {
    const std::uint32_t wire = field.wire_type;
    if (field.number == 1 && wire == 2) {
      attribute.name = reader.text(longest_name);
      continue;
    }
    if (field.number == 21 && wire == 2) {
      attribute.reference = reader.text(longest_name);
      continue;
    }
    if (field.number == 20 && wire == 0) {
      type = reader.varint();
      continue;
    }
    if (field.number >= 2 && field.number <= 9) seen = field.number;
    if (field.number == 2 && wire == 5) {
      real = std::bit_cast<float>(reader.fixed32());
    } else if (field.number == 3 && wire == 0) {
      integer = static_cast<std::int64_t>(reader.varint());
    } else if (field.number == 4 && wire == 2) {
      text = reader.text(longest_list);
    } else if (field.number == 5 && wire == 2) {
      attribute.value = nested(reader, read_tensor);
    } else if (field.number == 6 && wire == 2) {
      attribute.value = std::shared_ptr<const GraphMessage>(
          std::make_shared<GraphMessage>(nested(reader, read_graph)));
    } else if (field.number == 7 && wire == 5) {
      floats.push_back(std::bit_cast<float>(reader.fixed32()));
    } else if (field.number == 7 && wire == 2) {
      const std::uint64_t outer = reader.enter(reader.length());
      while (!reader.at_end()) floats.push_back(std::bit_cast<float>(reader.fixed32()));
      reader.leave(outer);
    } else if (field.number == 8 && wire == 0) {
      integers.push_back(static_cast<std::int64_t>(reader.varint()));
    } else if (field.number == 8 && wire == 2) {
      const std::uint64_t outer = reader.enter(reader.length());
      while (!reader.at_end()) integers.push_back(static_cast<std::int64_t>(reader.varint()));
      reader.leave(outer);
    } else if (field.number == 9 && wire == 2) {
      strings.push_back(reader.text(longest_list));
    } else {
      reader.skip(field);
    }
    if (floats.size() + integers.size() + strings.size() > longest_list) {
      reader.fail("an attribute's list is too long");
    }
  }
  if (!std::holds_alternative<std::monostate>(attribute.value)) return attribute;
  // Old files leave `type` out; proto3 writers leave out zero values: either one decides.
  if (type == 0) {
    constexpr std::uint64_t type_of_field[] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    type = seen < 10 ? type_of_field[seen] : 0;
  }
  switch (type) {
    case 1:
      attribute.value = real;
      break;
    case 2:
      attribute.value = integer;
      break;
    case 3:
      attribute.value = std::move(text);
      break;
    case 6:
      attribute.value = std::move(floats);
      break;
    case 7:
      attribute.value = std::move(integers);
      break;
    case 8:
      attribute.value = std::move(strings);
      break;
    default:
      break;  // of a kind that no supported operator has; an error where it is asked for
  }
  return attribute;
}

// NodeProto: 1 input, 2 output, 3 name, 4 op_type, 5 attribute, 7 domain.
NodeMessage read_node(WireReader& reader) {
  NodeMessage node;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.wire_type != 2) {
      reader.skip(field);
      continue;
    }
    switch (field.number) {
      case 1:
        node.inputs.push_back(reader.text(longest_name));
        break;
      case 2:
        node.outputs.push_back(reader.text(longest_name));
        break;
      case 3:
        node.name = reader.text(longest_name);
        break;
      case 4:
        node.op_type = reader.text(longest_name);
        break;
      case 5:
        node.attributes.push_back(nested(reader, read_attribute));
        break;
      case 7:
        node.domain = reader.text(longest_name);
        break;
      default:
        reader.skip(field);
    }
  }
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

// GraphProto: 1 node, 2 name, 5 initializer, 11 input, 12 output, 13 value_info,
// 15 sparse_initializer.
GraphMessage read_graph(WireReader& reader) {
  GraphMessage graph;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.wire_type != 2) {
      reader.skip(field);
      continue;
    }
    switch (field.number) {
      case 1:
        graph.nodes.push_back(nested(reader, read_node));
        break;
      case 2:
        graph.name = reader.text(longest_name);
        break;
      case 5:
        graph.initializers.push_back(nested(reader, read_tensor));
        break;
      case 11:
        graph.inputs.push_back(nested(reader, read_value));
        break;
      case 12:
        graph.outputs.push_back(nested(reader, read_value));
        break;
      case 13:
        graph.values.push_back(nested(reader, read_value));
        break;
      case 15:
        fail_unsupported("sparse initialisers are not supported");
        break;
      default:
        reader.skip(field);
    }
  }
  return graph;
}

// OperatorSetIdProto: 1 domain, 2 version.
std::pair<std::string, int> read_opset(WireReader& reader) {
  std::string domain;
  std::uint64_t version = 0;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == 1 && field.wire_type == 2) {
      domain = reader.text(longest_name);
    } else if (field.number == 2 && field.wire_type == 0) {
      version = reader.varint();
    } else {
      reader.skip(field);
    }
  }
  if (version > 1000000) reader.fail("an opset version is out of range");
  if (domain == "ai.onnx") domain.clear();
  return {domain, static_cast<int>(version)};
}

// FunctionProto: 1 name, 4 input, 5 output, 7 node, 9 opset_import, 10 domain, 11 attribute_proto.
FunctionMessage read_function(WireReader& reader) {
  FunctionMessage function;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.wire_type != 2) {
      reader.skip(field);
      continue;
    }
    switch (field.number) {
      case 1:
        function.name = reader.text(longest_name);
        break;
      case 4:
        function.inputs.push_back(reader.text(longest_name));
        break;
      case 5:
        function.outputs.push_back(reader.text(longest_name));
        break;
      case 7:
        function.nodes.push_back(nested(reader, read_node));
        break;
      case 9:
        function.opsets.insert(nested(reader, read_opset));
        break;
      case 10:
        function.domain = reader.text(longest_name);
        break;
      case 11:
        function.defaults.push_back(nested(reader, read_attribute));
        break;
      default:
        reader.skip(field);
    }
  }
  if (function.domain == "ai.onnx") function.domain.clear();
  return function;
}

}  // namespace

// ModelProto: 1 ir_version, 2 producer_name, 7 graph, 8 opset_import, 25 functions.
ModelMessage read_model(WireReader& reader) {
  ModelMessage model;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == 1 && field.wire_type == 0) {
      model.ir_version = static_cast<std::int64_t>(reader.varint());
    } else if (field.number == 2 && field.wire_type == 2) {
      model.producer = reader.text(longest_name);
    } else if (field.number == 7 && field.wire_type == 2) {
      if (model.has_graph) reader.fail("the model has two graphs");
      model.graph = nested(reader, read_graph);
      model.has_graph = true;
    } else if (field.number == 8 && field.wire_type == 2) {
      model.opsets.insert(nested(reader, read_opset));
    } else if (field.number == 25 && field.wire_type == 2) {
      model.functions.push_back(nested(reader, read_function));
    } else {
      reader.skip(field);
    }
  }
  return model;
}

}  // namespace plimsoll::tensor::onnx
