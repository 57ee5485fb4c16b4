// TensorProto: where a payload is, not what it holds. Field numbers are onnx.proto's.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"
#include "tensor/graph/varint.h"
#include "tensor/import/read_messages.h"

namespace plimsoll::tensor::onnx {
namespace {

// Values may come as single numbers or in several runs instead of one; they are then collected up
// to here. No writer does so for large tensors: the format says [packed = true].
constexpr std::size_t most_collected = std::size_t{1} << 20;
// ONNX knows no limit; far more than Shape::max_rank, for the sake of a better message.
constexpr std::size_t most_dimensions = 1024;

// The fields that can hold values.
enum class Payload : std::uint32_t {
  none = 0,
  floats = 4,
  int32s = 5,
  strings = 6,
  int64s = 7,
  raw = 9,
  doubles = 10,
  uint64s = 11,
};

struct TensorMessage {
  std::string name;
  std::vector<std::int64_t> dimensions;
  std::int64_t data_type = 0;
  Payload payload = Payload::none;
  WireReader::Range range;           // of one long run
  std::vector<std::byte> collected;  // as in the file, of short ones
  bool scattered = false;            // in more runs than are collected
  bool conflicting = false;          // in two fields
  bool segment = false;
  bool external = false;
  ExternalEntries entries;
};

bool is_varint(Payload payload) {
  return payload == Payload::int32s || payload == Payload::int64s || payload == Payload::uint64s;
}

// StringStringEntryProto: 1 key, 2 value.
void read_entry(WireReader& wire, ExternalEntries& entries) {
  std::string key;
  std::string value;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        key = wire.text(field, longest_name, "a key of external data");
        break;
      case 2:
        value = wire.text(field, longest_name, "a value of external data");
        break;
      default:
        wire.skip(field);
    }
  }
  if (key == "location") {
    entries.location = std::move(value);
  } else if (key == "offset") {
    entries.offset = std::move(value);
  } else if (key == "length") {
    entries.length = std::move(value);
  }
}

void collect(WireReader& wire, TensorMessage& message, std::span<const std::byte> bytes) {
  if (message.range.length != 0 || message.collected.size() + bytes.size() > most_collected) {
    message.scattered = true;
    return;
  }
  wire.limit().charge(bytes.size());
  message.collected.insert(message.collected.end(), bytes.begin(), bytes.end());
}

// One number outside of a packed run, put back into the form it would have inside of one.
void read_single(WireReader& wire, const WireReader::Field& field, TensorMessage& message) {
  std::array<std::byte, 10> bytes;
  std::size_t size = 0;
  if (field.wire_type == WireReader::varint_type) {
    std::uint64_t value = wire.varint(field);
    for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<std::byte>(value | 0x80U);
    bytes[size++] = static_cast<std::byte>(value);
  } else {
    size = field.wire_type == WireReader::fixed32_type ? 4 : 8;
    wire.read_bytes(std::span(bytes).first(size));
  }
  collect(wire, message, std::span(bytes).first(size));
}

WireReader::WireType single_type(Payload payload) {
  switch (payload) {
    case Payload::floats:
      return WireReader::fixed32_type;
    case Payload::doubles:
      return WireReader::fixed64_type;
    case Payload::int32s:
    case Payload::int64s:
    case Payload::uint64s:
      return WireReader::varint_type;
    default:
      return WireReader::bytes_type;
  }
}

void read_payload(WireReader& wire, const WireReader::Field& field, TensorMessage& message) {
  const auto payload = static_cast<Payload>(field.number);
  if (field.wire_type == single_type(payload) && field.wire_type != WireReader::bytes_type) {
    if (message.payload != payload && message.payload != Payload::none) message.conflicting = true;
    message.payload = payload;
    return read_single(wire, field, message);
  }
  const std::uint64_t length = wire.length(field);
  // Writers may leave an empty field beside the one that is used; a string may be empty itself.
  if (length == 0 && payload != Payload::strings) return;
  const bool first = message.payload == Payload::none;
  if (message.payload != payload && !first) message.conflicting = true;
  message.payload = payload;
  if (first && length > small_tensor_bytes) {
    message.range = {wire.position(), length};
    return wire.skip_bytes(length);
  }
  // raw_data is no repeated field: a second one would replace the first.
  const bool replaced = payload == Payload::raw && !first;
  if (payload == Payload::strings || replaced || length > most_collected) {
    message.scattered = true;
    return wire.skip_bytes(length);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  wire.read_bytes(bytes);
  collect(wire, message, bytes);
}

// 1 dims, 2 data_type, 3 segment, 8 name, 13 external_data, 14 data_location, and the payloads.
TensorMessage read_message(WireReader& wire) {
  TensorMessage message;
  WireReader::Field field;
  while (wire.next(field)) {
    switch (field.number) {
      case 1:
        wire.integers(field, [&](std::int64_t value) {
          if (message.dimensions.size() == most_dimensions) {
            wire.fail(fmt::format("a tensor has more than {} dimensions", most_dimensions));
          }
          message.dimensions.push_back(value);
        });
        break;
      case 2:
        message.data_type = wire.integer(field);
        break;
      case 3:
        message.segment = true;
        wire.skip(field);
        break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 9:
      case 10:
      case 11:
        read_payload(wire, field, message);
        break;
      case 8:
        message.name = wire.text(field, longest_name, "a tensor's name");
        break;
      case 13:
        wire.message(field, [&](WireReader&) { read_entry(wire, message.entries); });
        break;
      case 14:
        message.external = wire.varint(field) == 1;
        break;
      default:
        wire.skip(field);
    }
  }
  return message;
}

// TensorProto.DataType that are known but have no ElementType.
std::string unsupported_type_name(std::int64_t data_type) {
  switch (data_type) {
    case 14:
      return "complex64";
    case 15:
      return "complex128";
    case 17:
      return "float8e4m3fn";
    case 18:
      return "float8e4m3fnuz";
    case 19:
      return "float8e5m2";
    case 20:
      return "float8e5m2fnuz";
    case 21:
      return "uint4";
    case 22:
      return "int4";
    case 23:
      return "float4e2m1";
    case 24:
      return "float8e8m0";
    case 25:
      return "uint2";
    case 26:
      return "int2";
    case 27:
      return "float6e2m3";
    case 28:
      return "float6e3m2";
    default:
      return {};
  }
}

// The one field that may hold values of this type besides raw_data.
Payload payload_of(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return Payload::floats;
    case ElementType::f64:
      return Payload::doubles;
    case ElementType::i64:
      return Payload::int64s;
    case ElementType::u32:
    case ElementType::u64:
      return Payload::uint64s;
    case ElementType::string:
      return Payload::strings;
    default:
      return Payload::int32s;
  }
}

void check_payload(const TensorMessage& message, const StoredTensor& tensor) {
  if (message.payload != Payload::none && message.payload != Payload::raw &&
      message.payload != payload_of(tensor.type)) {
    fail_input(
        fmt::format("its type is {}, but its values are given in field {}, which is for "
                    "other types: save it again",
                    element_name(tensor.type), static_cast<std::uint32_t>(message.payload)));
  }
}

[[noreturn]] void fail_length(const StoredTensor& tensor, std::uint64_t have) {
  fail_input(
      fmt::format("its type {} and shape {} need {} bytes, but its data has {}: save it again",
                  element_name(tensor.type), tensor.shape.to_string(), tensor.bytes(), have));
}

SmallBytes decode_varints(const StoredTensor& tensor, std::span<const std::byte> source) {
  const std::size_t size = element_size(tensor.type);
  // Each number takes a byte or more, so this is bounded by what was read.
  const auto count = static_cast<std::uint64_t>(tensor.shape.elements());
  if (source.size() < count) {
    fail_input(
        fmt::format("its shape {} needs {} values, but its data has at most {}: save it again",
                    tensor.shape.to_string(), count, source.size()));
  }
  SmallBytes bytes(static_cast<std::size_t>(count) * size);
  VarintDecoder decoder;
  std::uint64_t done = 0;
  for (std::byte byte : source) {
    if (!decoder.push(byte)) continue;
    if (done < count) store_integer(tensor.type, decoder.value(), bytes.data() + done * size);
    ++done;
  }
  if (done != count || !decoder.complete()) {
    fail_input(fmt::format("its shape {} needs {} values, but its data has {}: save it again",
                           tensor.shape.to_string(), count, done));
  }
  return bytes;
}

void set_collected(TensorMessage& message, StoredTensor& tensor) {
  if (is_varint(message.payload)) {
    tensor.source = decode_varints(tensor, message.collected);
    return;
  }
  if (message.collected.size() != tensor.bytes()) fail_length(tensor, message.collected.size());
  tensor.source = std::move(message.collected);
}

void set_range(const TensorMessage& message, const WireReader& wire, StoredTensor& tensor) {
  const std::uint64_t length = message.range.length;
  if (is_varint(message.payload)) {
    tensor.storage.form = StorageType::Form::varint;
    const auto count = static_cast<std::uint64_t>(tensor.shape.elements());
    // From 1 to 10 bytes a number; which is right shows when they are read.
    if (count > length || length / 10 > count) fail_length(tensor, length);
  } else if (length != tensor.bytes()) {
    fail_length(tensor, length);
  }
  tensor.source = FileRange{wire.file(), message.range.offset, length};
}

// What shapes and axes may need is decoded now. Also makes bools 0 or 1.
void decode_if_small(StoredTensor& tensor) {
  if (tensor.bytes() > small_tensor_bytes) return;
  SmallBytes decoded(static_cast<std::size_t>(tensor.bytes()));
  tensor.read(0, tensor.shape.elements(), decoded.data());
  tensor.source = std::move(decoded);
  tensor.storage.form = StorageType::Form::dense;
}

void set_source(TensorMessage& message, ReadContext& context, StoredTensor& tensor) {
  if (message.dimensions.size() > Shape::max_rank) {
    tensor.source = Unreadable{fmt::format("it has {} dimensions, at most {} are supported",
                                           message.dimensions.size(), Shape::max_rank)};
    return;
  }
  tensor.shape = Shape(message.dimensions);
  const auto type = element_type_from_onnx(message.data_type);
  if (!type) {
    const std::string name = unsupported_type_name(message.data_type);
    if (name.empty()) {
      fail_input(
          fmt::format("its element type {} is unknown: the file is damaged, or of a newer "
                      "format than this build knows",
                      message.data_type));
    }
    tensor.source = Unreadable{fmt::format("element type {} is not supported", name)};
    return;
  }
  tensor.type = *type;
  tensor.storage.element = *type;
  if (*type == ElementType::string) {
    tensor.source = Unreadable{"tensors of strings are not supported"};
    return;
  }
  if (message.conflicting) fail_input("its values are given twice, in two forms: save it again");
  if (message.segment || message.scattered) {
    tensor.source = Unreadable{"its values are in several pieces, which is not supported"};
    return;
  }
  const std::uint64_t bytes = tensor.bytes();  // checked for overflow
  if (message.external) {
    tensor.source = context.external.locate(message.entries, bytes);
  } else {
    check_payload(message, tensor);
    if (message.range.length != 0) {
      set_range(message, context.wire, tensor);
    } else {
      set_collected(message, tensor);
    }
  }
  decode_if_small(tensor);
}

}  // namespace

std::shared_ptr<const StoredTensor> read_tensor(ReadContext& context) {
  TensorMessage message = read_message(context.wire);
  auto tensor = std::make_shared<StoredTensor>();
  context.wire.limit().charge(sizeof(StoredTensor));
  tensor->name = std::move(message.name);
  try {
    set_source(message, context, *tensor);
  } catch (Error& error) {
    error.add_context(fmt::format("tensor '{}'", tensor->name));
    throw;
  }
  return tensor;
}

}  // namespace plimsoll::tensor::onnx
