// Field numbers are onnx.proto's.
#include "support/onnx_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace plimsoll::tensor::test {
namespace {

// AttributeProto.AttributeType
enum AttributeKind : std::int64_t {
  kind_real = 1,
  kind_integer = 2,
  kind_text = 3,
  kind_tensor = 4,
  kind_graph = 5,
  kind_reals = 6,
  kind_integers = 7,
  kind_texts = 8,
  kind_type = 13,
};

// AttributeProto: 1 name, 20 type.
Message attribute_header(std::string_view key, std::int64_t kind) {
  Message attribute;
  attribute.text(1, key).integer(20, kind);
  return attribute;
}

Message value_info_message(std::string_view name, const Message& type) {
  Message value;
  value.text(1, name).message(2, type);
  return value;
}

Message opset_message(std::string_view domain, std::int64_t version) {
  Message opset;
  opset.text(1, domain).integer(2, version);
  return opset;
}

}  // namespace

std::string& Message::tail() {
  if (pieces_.empty() || !std::holds_alternative<std::string>(pieces_.back())) {
    pieces_.emplace_back(std::string());
  }
  return std::get<std::string>(pieces_.back());
}

Message& Message::raw(std::string_view bytes) {
  if (!bytes.empty()) tail().append(bytes);
  size_ += bytes.size();
  return *this;
}

Message& Message::plain_varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80U));
  bytes.push_back(static_cast<char>(value));
  return raw(bytes);
}

Message& Message::key(std::uint32_t number, std::uint32_t wire_type) {
  return plain_varint(std::uint64_t{number} << 3 | wire_type);
}

Message& Message::varint(std::uint32_t number, std::uint64_t value) {
  return key(number, 0).plain_varint(value);
}

Message& Message::real(std::uint32_t number, float value) {
  const auto bytes = std::bit_cast<std::array<char, 4>>(value);
  return key(number, 5).raw({bytes.data(), bytes.size()});
}

Message& Message::fixed64(std::uint32_t number, std::uint64_t value) {
  const auto bytes = std::bit_cast<std::array<char, 8>>(value);
  return key(number, 1).raw({bytes.data(), bytes.size()});
}

Message& Message::header(std::uint32_t number, std::uint64_t length) {
  return key(number, 2).plain_varint(length);
}

Message& Message::text(std::uint32_t number, std::string_view value) {
  return header(number, value.size()).raw(value);
}

Message& Message::message(std::uint32_t number, const Message& value) {
  return header(number, value.size_).append(value);
}

Message& Message::packed(std::uint32_t number, std::span<const std::int64_t> values) {
  Message numbers;
  for (std::int64_t value : values) numbers.plain_varint(static_cast<std::uint64_t>(value));
  return message(number, numbers);
}

Message& Message::payload(std::uint32_t number, std::uint64_t length, Fill fill) {
  header(number, length);
  pieces_.emplace_back(Streamed{length, std::move(fill)});
  size_ += length;
  return *this;
}

Message& Message::append(const Message& other) {
  for (const auto& piece : other.pieces_) {
    if (const auto* bytes = std::get_if<std::string>(&piece)) {
      raw(*bytes);
    } else {
      pieces_.push_back(piece);
      size_ += std::get<Streamed>(piece).length;
    }
  }
  return *this;
}

std::string Message::bytes() const {
  std::string result;
  for (const auto& piece : pieces_) {
    if (const auto* bytes = std::get_if<std::string>(&piece)) {
      result += *bytes;
      continue;
    }
    const auto& streamed = std::get<Streamed>(piece);
    const std::size_t start = result.size();
    result.resize(start + streamed.length);
    streamed.fill(0, std::as_writable_bytes(std::span(result).subspan(start)));
  }
  return result;
}

void Message::write(const std::filesystem::path& path) const {
  std::ofstream file(path, std::ios::binary);
  std::vector<char> window(std::size_t{64} * 1024);
  for (const auto& piece : pieces_) {
    if (const auto* bytes = std::get_if<std::string>(&piece)) {
      file.write(bytes->data(), static_cast<std::streamsize>(bytes->size()));
      continue;
    }
    const auto& streamed = std::get<Streamed>(piece);
    for (std::uint64_t offset = 0; offset < streamed.length;) {
      const auto some = static_cast<std::size_t>(
          std::min<std::uint64_t>(window.size(), streamed.length - offset));
      streamed.fill(offset, std::as_writable_bytes(std::span(window).first(some)));
      file.write(window.data(), static_cast<std::streamsize>(some));
      offset += some;
    }
  }
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

// TensorProto: 1 dims, 2 data_type, 8 name.
Message tensor_header(std::string_view name, DataType type, const Dimensions& shape) {
  Message tensor;
  for (std::int64_t dimension : shape) tensor.integer(1, dimension);
  tensor.integer(2, type.value);
  if (!name.empty()) tensor.text(8, name);
  return tensor;
}

Message raw_bytes_tensor(std::string_view name, DataType type, const Dimensions& shape,
                         std::string_view bytes) {
  return tensor_header(name, type, shape).text(9, bytes);
}

Message float_tensor(std::string_view name, const Dimensions& shape,
                     const std::vector<float>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  return tensor_header(name, ElementType::f32, shape).text(4, bytes);
}

Message double_tensor(std::string_view name, const Dimensions& shape,
                      const std::vector<double>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * 8);
  return tensor_header(name, ElementType::f64, shape).text(10, bytes);
}

Message varint_tensor(std::string_view name, ElementType type, const Dimensions& shape,
                      const std::vector<std::int64_t>& values) {
  std::uint32_t field = 5;
  if (type == ElementType::i64) field = 7;
  if (type == ElementType::u32 || type == ElementType::u64) field = 11;
  return tensor_header(name, type, shape).packed(field, values);
}

Message string_tensor(std::string_view name, const Dimensions& shape,
                      const std::vector<std::string>& values) {
  Message tensor = tensor_header(name, ElementType::string, shape);
  for (const std::string& value : values) tensor.text(6, value);
  return tensor;
}

Message streamed_tensor(std::string_view name, ElementType type, const Dimensions& shape,
                        Fill fill) {
  std::uint64_t bytes = element_size(type);
  for (std::int64_t dimension : shape) bytes *= static_cast<std::uint64_t>(dimension);
  return tensor_header(name, type, shape).payload(9, bytes, std::move(fill));
}

// 13 external_data (1 key, 2 value), 14 data_location.
Message external_tensor(std::string_view name, DataType type, const Dimensions& shape,
                        const std::vector<std::pair<std::string, std::string>>& entries) {
  Message tensor = tensor_header(name, type, shape);
  for (const auto& [key, value] : entries) {
    Message entry;
    entry.text(1, key).text(2, value);
    tensor.message(13, entry);
  }
  return tensor.integer(14, 1);
}

// TypeProto: 1 tensor_type {1 elem_type, 2 shape {1 dim {1 dim_value, 2 dim_param}}}.
Message tensor_type(DataType type, const Declared& dimensions) {
  Message shape;
  for (const DeclaredDimension& dimension : dimensions) {
    Message entry;
    if (const auto* number = std::get_if<std::int64_t>(&dimension)) {
      entry.integer(1, *number);
    } else if (const auto& symbol = std::get<std::string>(dimension); !symbol.empty()) {
      entry.text(2, symbol);
    }
    shape.message(1, entry);
  }
  Message tensor;
  tensor.integer(1, type.value).message(2, shape);
  Message result;
  return result.message(1, tensor);
}

Message unshaped_tensor_type(DataType type) {
  Message tensor;
  tensor.integer(1, type.value);
  Message result;
  return result.message(1, tensor);
}

// 4 sequence_type, 9 optional_type, each {1 elem_type}.
Message sequence_type(const Message& element) {
  Message holder;
  holder.message(1, element);
  Message result;
  return result.message(4, holder);
}

Message optional_type(const Message& element) {
  Message holder;
  holder.message(1, element);
  Message result;
  return result.message(9, holder);
}

// NodeProto: 1 input, 2 output, 3 name, 4 op_type, 5 attribute, 7 domain, 8 overload.
NodeWriter::NodeWriter(std::string_view op_type, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs) {
  for (const std::string& input : inputs) message_.text(1, input);
  for (const std::string& output : outputs) message_.text(2, output);
  message_.text(4, op_type);
}

NodeWriter& NodeWriter::name(std::string_view value) {
  message_.text(3, value);
  return *this;
}

NodeWriter& NodeWriter::domain(std::string_view value) {
  message_.text(7, value);
  return *this;
}

NodeWriter& NodeWriter::overload(std::string_view value) {
  message_.text(8, value);
  return *this;
}

NodeWriter& NodeWriter::attribute(const Message& value) {
  message_.message(5, value);
  return *this;
}

// AttributeProto: 2 f, 3 i, 4 s, 5 t, 6 g, 7 floats, 8 ints, 9 strings, 14 tp, 21 ref_attr_name.
NodeWriter& NodeWriter::integer(std::string_view key, std::int64_t value) {
  return attribute(attribute_header(key, kind_integer).integer(3, value));
}

NodeWriter& NodeWriter::real(std::string_view key, float value) {
  return attribute(attribute_header(key, kind_real).real(2, value));
}

NodeWriter& NodeWriter::text(std::string_view key, std::string_view value) {
  return attribute(attribute_header(key, kind_text).text(4, value));
}

NodeWriter& NodeWriter::integers(std::string_view key, const std::vector<std::int64_t>& values) {
  Message result = attribute_header(key, kind_integers);
  for (std::int64_t value : values) result.integer(8, value);
  return attribute(result);
}

NodeWriter& NodeWriter::reals(std::string_view key, const std::vector<float>& values) {
  Message result = attribute_header(key, kind_reals);
  for (float value : values) result.real(7, value);
  return attribute(result);
}

NodeWriter& NodeWriter::texts(std::string_view key, const std::vector<std::string>& values) {
  Message result = attribute_header(key, kind_texts);
  for (const std::string& value : values) result.text(9, value);
  return attribute(result);
}

NodeWriter& NodeWriter::tensor(std::string_view key, const Message& value) {
  return attribute(attribute_header(key, kind_tensor).message(5, value));
}

NodeWriter& NodeWriter::graph(std::string_view key, const GraphWriter& value) {
  return attribute(attribute_header(key, kind_graph).message(6, value.message()));
}

NodeWriter& NodeWriter::type(std::string_view key, const Message& value) {
  return attribute(attribute_header(key, kind_type).message(14, value));
}

NodeWriter& NodeWriter::reference(std::string_view key, std::string_view reference,
                                  std::int64_t kind) {
  return attribute(attribute_header(key, kind).text(21, reference));
}

// GraphProto: 1 node, 2 name, 5 initializer, 11 input, 12 output, 13 value_info,
// 15 sparse_initializer.
GraphWriter& GraphWriter::name(std::string_view value) {
  message_.text(2, value);
  return *this;
}

GraphWriter& GraphWriter::node(const NodeWriter& value) {
  message_.message(1, value.message());
  return *this;
}

GraphWriter& GraphWriter::initializer(const Message& tensor) {
  message_.message(5, tensor);
  return *this;
}

// SparseTensorProto: 1 values, 2 indices, 3 dims.
GraphWriter& GraphWriter::sparse_initializer(const Message& values, const Message& indices,
                                             const Dimensions& shape) {
  Message sparse;
  sparse.message(1, values).message(2, indices);
  for (std::int64_t dimension : shape) sparse.integer(3, dimension);
  message_.message(15, sparse);
  return *this;
}

GraphWriter& GraphWriter::input(std::string_view name, const Message& type) {
  message_.message(11, value_info_message(name, type));
  return *this;
}

GraphWriter& GraphWriter::output(std::string_view name, const Message& type) {
  message_.message(12, value_info_message(name, type));
  return *this;
}

GraphWriter& GraphWriter::input(std::string_view name, DataType type, const Declared& dimensions) {
  return input(name, tensor_type(type, dimensions));
}

GraphWriter& GraphWriter::output(std::string_view name, DataType type, const Declared& dimensions) {
  return output(name, tensor_type(type, dimensions));
}

GraphWriter& GraphWriter::value_info(std::string_view name, DataType type,
                                     const Declared& dimensions) {
  message_.message(13, value_info_message(name, tensor_type(type, dimensions)));
  return *this;
}

// FunctionProto: 1 name, 4 input, 5 output, 6 attribute, 7 node, 9 opset_import, 10 domain,
// 11 attribute_proto, 13 overload.
FunctionWriter::FunctionWriter(std::string_view domain, std::string_view name) {
  message_.text(1, name).text(10, domain);
}

FunctionWriter& FunctionWriter::overload(std::string_view value) {
  message_.text(13, value);
  return *this;
}

FunctionWriter& FunctionWriter::input(std::string_view name) {
  message_.text(4, name);
  return *this;
}

FunctionWriter& FunctionWriter::output(std::string_view name) {
  message_.text(5, name);
  return *this;
}

FunctionWriter& FunctionWriter::attribute(std::string_view name) {
  message_.text(6, name);
  return *this;
}

FunctionWriter& FunctionWriter::default_integer(std::string_view name, std::int64_t value) {
  message_.message(11, attribute_header(name, kind_integer).integer(3, value));
  return *this;
}

FunctionWriter& FunctionWriter::default_real(std::string_view name, float value) {
  message_.message(11, attribute_header(name, kind_real).real(2, value));
  return *this;
}

FunctionWriter& FunctionWriter::node(const NodeWriter& value) {
  message_.message(7, value.message());
  return *this;
}

FunctionWriter& FunctionWriter::opset(std::string_view domain, std::int64_t version) {
  message_.message(9, opset_message(domain, version));
  return *this;
}

// ModelProto: 1 ir_version, 2 producer_name, 7 graph, 8 opset_import, 25 functions.
ModelWriter& ModelWriter::ir_version(std::int64_t value) {
  ir_version_ = value;
  return *this;
}

ModelWriter& ModelWriter::producer(std::string_view value) {
  rest_.text(2, value);
  return *this;
}

ModelWriter& ModelWriter::opset(std::string_view domain, std::int64_t version) {
  default_opset_ = false;
  rest_.message(8, opset_message(domain, version));
  return *this;
}

ModelWriter& ModelWriter::no_opset() {
  default_opset_ = false;
  return *this;
}

ModelWriter& ModelWriter::graph(const GraphWriter& value) {
  rest_.message(7, value.message());
  return *this;
}

ModelWriter& ModelWriter::function(const FunctionWriter& value) {
  rest_.message(25, value.message());
  return *this;
}

Message ModelWriter::message() const {
  constexpr std::int64_t default_opset = 17;
  Message model;
  model.integer(1, ir_version_);
  if (default_opset_) model.message(8, opset_message("", default_opset));
  return model.append(rest_);
}

}  // namespace plimsoll::tensor::test
