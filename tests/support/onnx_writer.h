// Writes ONNX files for tests, from protobuf's wire format up. Why it exists: tests must be able to
// make models that no well-behaved tool writes, and models with payloads larger than memory may
// hold. May touch: the standard library, element_type.h.
//
//   ModelWriter().graph(GraphWriter()
//       .input("x", ElementType::f32, {"n", 4})
//       .initializer(raw_tensor<float>("w", {4}, {1, 2, 3, 4}))
//       .node(NodeWriter("Mul", {"x", "w"}, {"y"}).name("scale"))
//       .output("y", ElementType::f32, {"n", 4})).write(path);
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "plimsoll/element_type.h"

namespace plimsoll::tensor::test {

/// Fills part of a payload: the bytes from `offset` on. Called in order when a file is written.
using Fill = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;

/// A protobuf message under construction: fields in the order in which they were added. Payloads
/// given by a Fill are not held in memory.
class Message {
 public:
  Message& varint(std::uint32_t number, std::uint64_t value);
  Message& integer(std::uint32_t number, std::int64_t value) {
    return varint(number, static_cast<std::uint64_t>(value));
  }
  Message& real(std::uint32_t number, float value);
  Message& fixed64(std::uint32_t number, std::uint64_t value);
  Message& text(std::uint32_t number, std::string_view value);
  Message& message(std::uint32_t number, const Message& value);
  Message& packed(std::uint32_t number, std::span<const std::int64_t> values);  ///< as varints
  Message& payload(std::uint32_t number, std::uint64_t length, Fill fill);
  /// A key and a length that need not be true.
  Message& header(std::uint32_t number, std::uint64_t length);
  Message& append(const Message& other);
  Message& raw(std::string_view bytes);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::string bytes() const;
  void write(const std::filesystem::path& path) const;

 private:
  struct Streamed {
    std::uint64_t length;
    Fill fill;
  };
  std::string& tail();
  Message& key(std::uint32_t number, std::uint32_t wire_type);
  Message& plain_varint(std::uint64_t value);

  std::vector<std::variant<std::string, Streamed>> pieces_;
  std::uint64_t size_ = 0;
};

/// TensorProto.DataType: an ElementType, or a number for what has none.
struct DataType {
  std::int64_t value;
  DataType(ElementType type) : value(static_cast<std::int64_t>(type)) {}  // NOLINT: implicit
  explicit DataType(std::int64_t number) : value(number) {}
};

using Dimensions = std::vector<std::int64_t>;

// TensorProto. `raw` is raw_data; the typed ones use the field that the type has beside it.
[[nodiscard]] Message tensor_header(std::string_view name, DataType type, const Dimensions& shape);
[[nodiscard]] Message raw_bytes_tensor(std::string_view name, DataType type,
                                       const Dimensions& shape, std::string_view bytes);
template <typename T>
[[nodiscard]] constexpr ElementType element_of() {
  if constexpr (std::is_same_v<T, float>) return ElementType::f32;
  if constexpr (std::is_same_v<T, double>) return ElementType::f64;
  if constexpr (std::is_same_v<T, std::int8_t>) return ElementType::i8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::u8;
  if constexpr (std::is_same_v<T, std::int16_t>) return ElementType::i16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return ElementType::u16;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::i32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return ElementType::u32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::i64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return ElementType::u64;
  if constexpr (std::is_same_v<T, Float16>) return ElementType::f16;
  if constexpr (std::is_same_v<T, BFloat16>) return ElementType::bf16;
}
template <typename T>
[[nodiscard]] Message raw_tensor(std::string_view name, const Dimensions& shape,
                                 const std::vector<T>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                               values.size() * sizeof(T));
  return raw_bytes_tensor(name, element_of<T>(), shape, bytes);
}
[[nodiscard]] Message float_tensor(std::string_view name, const Dimensions& shape,
                                   const std::vector<float>& values);
[[nodiscard]] Message double_tensor(std::string_view name, const Dimensions& shape,
                                    const std::vector<double>& values);
/// int32_data, int64_data or uint64_data, as the type demands. Negative numbers take 10 bytes.
[[nodiscard]] Message varint_tensor(std::string_view name, ElementType type,
                                    const Dimensions& shape,
                                    const std::vector<std::int64_t>& values);
[[nodiscard]] Message string_tensor(std::string_view name, const Dimensions& shape,
                                    const std::vector<std::string>& values);
/// raw_data of the right length, written by `fill` when the file is: never held whole.
[[nodiscard]] Message streamed_tensor(std::string_view name, ElementType type,
                                      const Dimensions& shape, Fill fill);
/// data_location = EXTERNAL with these entries ("location", "offset", "length", …).
[[nodiscard]] Message external_tensor(
    std::string_view name, DataType type, const Dimensions& shape,
    const std::vector<std::pair<std::string, std::string>>& entries);

/// A declared dimension: a number or a name; "" is a dimension of which nothing is known.
using DeclaredDimension = std::variant<std::int64_t, std::string>;
struct Declared : std::vector<DeclaredDimension> {
  Declared(std::initializer_list<DeclaredDimension> dimensions)
      : std::vector<DeclaredDimension>(dimensions) {}
};
[[nodiscard]] Message tensor_type(DataType type, const Declared& dimensions);
[[nodiscard]] Message unshaped_tensor_type(DataType type);
[[nodiscard]] Message sequence_type(const Message& element);
[[nodiscard]] Message optional_type(const Message& element);

class GraphWriter;

class NodeWriter {
 public:
  NodeWriter(std::string_view op_type, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs);
  NodeWriter& name(std::string_view value);
  NodeWriter& domain(std::string_view value);
  NodeWriter& overload(std::string_view value);
  NodeWriter& integer(std::string_view key, std::int64_t value);
  NodeWriter& real(std::string_view key, float value);
  NodeWriter& text(std::string_view key, std::string_view value);
  NodeWriter& integers(std::string_view key, const std::vector<std::int64_t>& values);
  NodeWriter& reals(std::string_view key, const std::vector<float>& values);
  NodeWriter& texts(std::string_view key, const std::vector<std::string>& values);
  NodeWriter& tensor(std::string_view key, const Message& value);
  NodeWriter& graph(std::string_view key, const GraphWriter& value);
  NodeWriter& type(std::string_view key, const Message& value);
  /// The value that the function's caller gave as `reference`; `kind` is AttributeProto.type.
  NodeWriter& reference(std::string_view key, std::string_view reference, std::int64_t kind);
  /// An AttributeProto made by hand.
  NodeWriter& attribute(const Message& value);
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  Message message_;
};

class GraphWriter {
 public:
  GraphWriter& name(std::string_view value);
  GraphWriter& node(const NodeWriter& value);
  GraphWriter& initializer(const Message& tensor);
  GraphWriter& sparse_initializer(const Message& values, const Message& indices,
                                  const Dimensions& shape);
  GraphWriter& input(std::string_view name, DataType type, const Declared& dimensions);
  GraphWriter& output(std::string_view name, DataType type, const Declared& dimensions);
  GraphWriter& input(std::string_view name, const Message& type);
  GraphWriter& output(std::string_view name, const Message& type);
  GraphWriter& value_info(std::string_view name, DataType type, const Declared& dimensions);
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  Message message_;
};

class FunctionWriter {
 public:
  FunctionWriter(std::string_view domain, std::string_view name);
  FunctionWriter& overload(std::string_view value);
  FunctionWriter& input(std::string_view name);
  FunctionWriter& output(std::string_view name);
  FunctionWriter& attribute(std::string_view name);
  FunctionWriter& default_integer(std::string_view name, std::int64_t value);
  FunctionWriter& default_real(std::string_view name, float value);
  FunctionWriter& node(const NodeWriter& value);
  FunctionWriter& opset(std::string_view domain, std::int64_t version);
  [[nodiscard]] const Message& message() const { return message_; }

 private:
  Message message_;
};

/// Version 8 of the format; opset 17 of the standard domain unless opset() is called.
class ModelWriter {
 public:
  ModelWriter& ir_version(std::int64_t value);
  ModelWriter& producer(std::string_view value);
  ModelWriter& opset(std::string_view domain, std::int64_t version);
  ModelWriter& no_opset();
  ModelWriter& graph(const GraphWriter& value);
  ModelWriter& function(const FunctionWriter& value);
  [[nodiscard]] Message message() const;
  [[nodiscard]] std::string bytes() const { return message().bytes(); }
  void write(const std::filesystem::path& path) const { message().write(path); }

 private:
  std::int64_t ir_version_ = 8;
  bool default_opset_ = true;
  Message rest_;
};

}  // namespace plimsoll::tensor::test
