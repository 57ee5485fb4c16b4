// Field numbers are those of onnx.proto and onnx-data.proto.
#include "tensor/import/tensor_proto.h"

#include <fmt/format.h>

#include <utility>

#include "plimsoll/error.h"
#include "tensor/import/external_data.h"
#include "tensor/import/read_messages.h"
#include "tensor/import/structure_limit.h"
#include "tensor/import/wire.h"
#include "tensor/import/wrong_file.h"

namespace plimsoll::tensor {
namespace {

using onnx::ReadContext;

void add_tensor(ReadContext& context, const WireReader::Field& field, ProtoValue& value) {
  auto tensor =
      context.wire.message(field, [&](WireReader&) { return onnx::read_tensor(context); });
  if (const auto* unreadable = std::get_if<Unreadable>(&tensor->source)) {
    fail_unsupported(fmt::format("tensor '{}': {}", tensor->name, unreadable->reason));
  }
  context.wire.limit().charge(sizeof(tensor));
  value.tensors.push_back(std::move(tensor));
}

// SequenceProto and OptionalProto: 1 name, 2 elem_type, 3 tensor_value(s); 4 sparse, 6 map and the
// other one (5 or 7) are not supported. In an OptionalProto 5 is a sequence.
void read_holder(ReadContext& context, ProtoKind kind, ProtoValue& value) {
  WireReader& wire = context.wire;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        value.name = wire.text(field, onnx::longest_name, "a name");
        break;
      case 2:
        (void)wire.varint(field);
        break;
      case 3:
        add_tensor(context, field, value);
        value.has_value = true;
        break;
      case 5:
        if (kind != ProtoKind::optional) fail_unsupported("a sequence of sequences");
        wire.message(field, [&](WireReader&) { read_holder(context, ProtoKind::sequence, value); });
        value.is_sequence = true;
        value.has_value = true;
        break;
      case 4:
        fail_unsupported("it holds sparse tensors, which are not supported");
      case 6:
        fail_unsupported("it holds maps, which are not supported");
      case 7:
        fail_unsupported("it holds optionals within, which are not supported");
      default:
        wire.skip(field);
    }
  }
}

ProtoValue read_as(const std::shared_ptr<const SourceFile>& file, ProtoKind kind) {
  StructureLimit limit;
  WireReader wire(file, limit);
  onnx::ExternalFiles external(std::nullopt);
  ReadContext context{wire, external};
  ProtoValue value;
  value.kind = kind;
  switch (kind) {
    case ProtoKind::tensor: {
      value.tensors.push_back(onnx::read_tensor(context));
      const StoredTensor& tensor = *value.tensors.front();
      if (const auto* unreadable = std::get_if<Unreadable>(&tensor.source)) {
        fail_unsupported(fmt::format("tensor '{}': {}", tensor.name, unreadable->reason));
      }
      value.name = tensor.name;
      break;
    }
    case ProtoKind::sequence:
      value.is_sequence = true;
      read_holder(context, kind, value);
      break;
    case ProtoKind::optional:
      value.has_value = false;
      read_holder(context, kind, value);
      if (!value.is_sequence && value.tensors.size() > 1)
        fail_input("an optional holds two values");
      break;
  }
  return value;
}

ProtoValue read_as_any(const std::shared_ptr<const SourceFile>& file) {
  // The first complaint is about a tensor, which is what such a file nearly always holds.
  std::optional<Error> first;
  for (const ProtoKind kind : {ProtoKind::tensor, ProtoKind::sequence, ProtoKind::optional}) {
    try {
      return read_as(file, kind);
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  throw Error(*first);
}

ProtoValue read_file(const std::shared_ptr<const SourceFile>& file, std::optional<ProtoKind> kind) {
  try {
    const bool empty_is_a_value = kind && *kind != ProtoKind::tensor;
    if (file->size() == 0 && !empty_is_a_value) fail_input("it is empty");
    return kind ? read_as(file, *kind) : read_as_any(file);
  } catch (Error& error) {
    const std::string wrong = describe_wrong_file(*file);
    if (!wrong.empty()) {
      fail_input(fmt::format("'{}' holds no tensor: it is {}", file->path(), wrong));
    }
    error.add_context(fmt::format("tensor file '{}'", file->path()));
    throw;
  }
}

}  // namespace

ProtoValue describe_tensor_proto(const std::string& path, std::optional<ProtoKind> kind) {
  return read_file(SourceFile::open(path), kind);
}

ProtoValue describe_tensor_proto_bytes(const std::string& name, std::span<const std::byte> bytes,
                                       std::optional<ProtoKind> kind) {
  return read_file(SourceFile::from_memory(name, bytes), kind);
}

LoadedTensor load_tensor(const StoredTensor& stored) {
  LoadedTensor loaded{stored.name, stored.type, stored.shape, {}};
  // Import has checked the shape against the bytes that are there (varints: one byte or more for
  // each element), so this is no unchecked number.
  loaded.bytes.resize(static_cast<std::size_t>(stored.bytes()));
  stored.read(0, stored.shape.elements(), loaded.bytes.data());
  return loaded;
}

}  // namespace plimsoll::tensor
