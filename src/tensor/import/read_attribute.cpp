// AttributeProto. Field numbers are onnx.proto's.
#include <fmt/format.h>

#include <utility>

#include "plimsoll/error.h"
#include "tensor/import/read_messages.h"

namespace plimsoll::tensor::onnx {
namespace {

// Longer strings are no operator's attributes but data (compiled engines, vocabularies).
constexpr std::uint64_t longest_string = std::uint64_t{1} << 20;

// AttributeProto.AttributeType
enum class Type : std::uint64_t {
  undefined = 0,
  real = 1,
  integer = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  reals = 6,
  integers = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type = 13,
  types = 14,
};

// Everything that the message may hold; which of it counts is known at its end.
struct Parts {
  Type stated = Type::undefined;
  Type seen = Type::undefined;
  float real = 0;
  std::int64_t integer = 0;
  std::string string;
  std::vector<float> reals;
  std::vector<std::int64_t> integers;
  std::vector<std::string> strings;
  std::shared_ptr<const StoredTensor> tensor;
  std::shared_ptr<const GraphMessage> graph;
  std::optional<DeclaredType> type;
  std::uint64_t too_long = 0;  // bytes of a string that was not kept
};

std::string read_string(WireReader& wire, const WireReader::Field& field, Parts& parts) {
  const std::uint64_t bytes = wire.length(field);
  if (bytes > longest_string) {
    parts.too_long = bytes;
    wire.skip_bytes(bytes);
    return {};
  }
  wire.limit().charge(sizeof(std::string) + bytes);
  std::string result(static_cast<std::size_t>(bytes), '\0');
  wire.read_bytes(std::as_writable_bytes(std::span(result)));
  return result;
}

// 2 f, 3 i, 4 s, 5 t, 6 g, 7 floats, 8 ints, 9 strings, 10 tensors, 11 graphs, 14 tp,
// 15 type_protos, 22 sparse_tensor, 23 sparse_tensors. False for any other field.
bool read_part(ReadContext& context, const WireReader::Field& field, Parts& parts) {
  WireReader& wire = context.wire;
  switch (field.number) {
    case 2:
      parts.real = wire.real(field);
      parts.seen = Type::real;
      return true;
    case 3:
      parts.integer = wire.integer(field);
      parts.seen = Type::integer;
      return true;
    case 4:
      parts.string = read_string(wire, field, parts);
      parts.seen = Type::string;
      return true;
    case 5:
      parts.tensor = wire.message(field, [&](WireReader&) { return read_tensor(context); });
      parts.seen = Type::tensor;
      return true;
    case 6:
      parts.graph = std::make_shared<GraphMessage>(
          wire.message(field, [&](WireReader&) { return read_graph(context); }));
      parts.seen = Type::graph;
      return true;
    case 7:
      wire.reals(field, [&](float value) {
        wire.limit().charge(sizeof(value));
        parts.reals.push_back(value);
      });
      parts.seen = Type::reals;
      return true;
    case 8:
      wire.integers(field, [&](std::int64_t value) {
        wire.limit().charge(sizeof(value));
        parts.integers.push_back(value);
      });
      parts.seen = Type::integers;
      return true;
    case 9:
      parts.strings.push_back(read_string(wire, field, parts));
      parts.seen = Type::strings;
      return true;
    case 14:
      parts.type = wire.message(field, read_type);
      parts.seen = Type::type;
      return true;
    case 10:
      parts.seen = Type::tensors;
      break;
    case 11:
      parts.seen = Type::graphs;
      break;
    case 15:
      parts.seen = Type::types;
      break;
    case 22:
      parts.seen = Type::sparse_tensor;
      break;
    case 23:
      parts.seen = Type::sparse_tensors;
      break;
    default:
      return false;
  }
  wire.skip(field);
  return true;
}

void set_value(AttributeMessage& attribute, Parts& parts) {
  if (parts.too_long != 0) {
    attribute.value = UnsupportedAttribute{fmt::format("a string of {} bytes", parts.too_long)};
    return;
  }
  // Old files leave the type out, and some writers leave out values that are zero: either decides.
  const Type type = parts.stated != Type::undefined ? parts.stated : parts.seen;
  switch (type) {
    case Type::undefined:
      return;
    case Type::real:
      attribute.value = parts.real;
      return;
    case Type::integer:
      attribute.value = parts.integer;
      return;
    case Type::string:
      attribute.value = std::move(parts.string);
      return;
    case Type::reals:
      attribute.value = std::move(parts.reals);
      return;
    case Type::integers:
      attribute.value = std::move(parts.integers);
      return;
    case Type::strings:
      attribute.value = std::move(parts.strings);
      return;
    case Type::tensor:
      if (parts.tensor == nullptr) {
        fail_input(
            fmt::format("attribute '{}' is said to be a tensor, but holds none", attribute.name));
      }
      attribute.value = std::move(parts.tensor);
      return;
    case Type::graph:
      if (parts.graph == nullptr) {
        fail_input(
            fmt::format("attribute '{}' is said to be a graph, but holds none", attribute.name));
      }
      attribute.value = std::move(parts.graph);
      return;
    case Type::type:
      if (parts.type) {
        attribute.value = std::move(*parts.type);
      } else {
        attribute.value = UnsupportedAttribute{"a type of unknown kind"};
      }
      return;
    case Type::tensors:
      attribute.value = UnsupportedAttribute{"a list of tensors"};
      return;
    case Type::graphs:
      attribute.value = UnsupportedAttribute{"a list of graphs"};
      return;
    case Type::types:
      attribute.value = UnsupportedAttribute{"a list of types"};
      return;
    case Type::sparse_tensor:
      attribute.value = UnsupportedAttribute{"a sparse tensor"};
      return;
    case Type::sparse_tensors:
      attribute.value = UnsupportedAttribute{"a list of sparse tensors"};
      return;
  }
  attribute.value =
      UnsupportedAttribute{fmt::format("of unknown kind {}", static_cast<std::uint64_t>(type))};
}

}  // namespace

// AttributeProto: 1 name, 20 type, 21 ref_attr_name, and the parts above.
AttributeMessage read_attribute(ReadContext& context) {
  WireReader& wire = context.wire;
  AttributeMessage attribute;
  Parts parts;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        attribute.name = wire.text(field, longest_name, "an attribute's name");
        break;
      case 20:
        parts.stated = static_cast<Type>(wire.varint(field));
        break;
      case 21:
        attribute.reference = wire.text(field, longest_name, "an attribute's name");
        break;
      default:
        if (!read_part(context, field, parts)) wire.skip(field);
    }
  }
  if (attribute.name.empty()) wire.fail("an attribute has no name");
  if (attribute.reference.empty()) set_value(attribute, parts);
  return attribute;
}

}  // namespace plimsoll::tensor::onnx
