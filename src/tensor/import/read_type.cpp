// TypeProto and what it holds. Field numbers are onnx.proto's.
#include <fmt/format.h>

#include "plimsoll/error.h"
#include "tensor/import/read_messages.h"

namespace plimsoll::tensor::onnx {
namespace {

// Dimension: 1 dim_value, 2 dim_param.
Dimension read_dimension(WireReader& wire) {
  Dimension dimension;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        dimension.value = wire.integer(field);
        break;
      case 2:
        dimension.symbol = wire.text(field, longest_name, "a dimension's name");
        break;
      default:
        wire.skip(field);
    }
  }
  // Some exporters write −1 for a dimension they do not know.
  if (dimension.value < -1) {
    wire.fail(fmt::format("a declared dimension is {}", dimension.value));
  }
  return dimension;
}

// TensorShapeProto: 1 dim.
std::vector<Dimension> read_shape(WireReader& wire) {
  std::vector<Dimension> dimensions;
  WireReader::Field field;
  while (wire.next(field)) {
    if (field.number != 1) {
      wire.skip(field);
      continue;
    }
    wire.limit().charge(sizeof(Dimension));
    dimensions.push_back(wire.message(field, read_dimension));
  }
  // Whoever multiplies what is declared must not overflow.
  constexpr std::int64_t largest = std::int64_t{1} << 62;
  std::int64_t product = 1;
  for (const Dimension& dimension : dimensions) {
    if (dimension.value <= 0) continue;
    if (product > largest / dimension.value) {
      wire.fail("the product of declared dimensions exceeds 2^62");
    }
    product *= dimension.value;
  }
  return dimensions;
}

// TypeProto.Tensor: 1 elem_type, 2 shape.
DeclaredType read_tensor_type(WireReader& wire) {
  DeclaredType type;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        type.element = element_type_from_onnx(wire.integer(field)).value_or(ElementType::undefined);
        break;
      case 2:
        type.dimensions = wire.message(field, read_shape);
        break;
      default:
        wire.skip(field);
    }
  }
  return type;
}

// TypeProto.Sequence, TypeProto.Optional: 1 elem_type, a TypeProto.
DeclaredType read_holder_type(WireReader& wire, DeclaredType::Kind kind) {
  DeclaredType type;
  WireReader::Field field;
  while (wire.next(field)) {
    if (field.number == 1) {
      type = wire.message(field, read_type).value_or(DeclaredType{});
    } else {
      wire.skip(field);
    }
  }
  type.kind = kind;
  return type;
}

}  // namespace

// TypeProto: 1 tensor_type, 4 sequence_type, 9 optional_type.
std::optional<DeclaredType> read_type(WireReader& wire) {
  std::optional<DeclaredType> type;
  const auto holder = [](DeclaredType::Kind kind) {
    return [kind](WireReader& inner) { return read_holder_type(inner, kind); };
  };
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        type = wire.message(field, read_tensor_type);
        break;
      case 4:
        type = wire.message(field, holder(DeclaredType::Kind::sequence));
        break;
      case 9:
        type = wire.message(field, holder(DeclaredType::Kind::optional));
        break;
      default:
        wire.skip(field);
    }
  }
  return type;
}

}  // namespace plimsoll::tensor::onnx
