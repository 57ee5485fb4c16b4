#include "tensor/import/constant_node.h"

#include <cstring>
#include <span>

#include "plimsoll/error.h"

namespace plimsoll::tensor::onnx {
namespace {

template <typename T>
std::shared_ptr<StoredTensor> from_values(ElementType type, const Shape& shape,
                                          std::span<const T> values) {
  auto tensor = std::make_shared<StoredTensor>();
  tensor->type = type;
  tensor->storage.element = type;
  tensor->shape = shape;
  SmallBytes bytes(values.size_bytes());
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), values.size_bytes());
  tensor->source = std::move(bytes);
  return tensor;
}

template <typename T>
std::shared_ptr<StoredTensor> from_list(ElementType type, const std::vector<T>& values) {
  return from_values(type, Shape{static_cast<std::int64_t>(values.size())},
                     std::span<const T>(values));
}

std::shared_ptr<StoredTensor> unreadable(ElementType type, std::string reason) {
  auto tensor = std::make_shared<StoredTensor>();
  tensor->type = type;
  tensor->source = Unreadable{std::move(reason)};
  return tensor;
}

}  // namespace

std::shared_ptr<const StoredTensor> constant_tensor(const Node& node, const std::string& name) {
  if (node.attributes.size() != 1) {
    fail_input("a Constant must have exactly one attribute, its value");
  }
  const std::string& key = node.attributes.begin()->first;
  if (key == "value") return node.tensor(key);
  std::shared_ptr<StoredTensor> tensor;
  if (key == "value_float") {
    const float value = node.real(key, 0);
    tensor = from_values(ElementType::f32, Shape{}, std::span<const float>(&value, 1));
  } else if (key == "value_int") {
    const std::int64_t value = node.integer(key);
    tensor = from_values(ElementType::i64, Shape{}, std::span<const std::int64_t>(&value, 1));
  } else if (key == "value_floats") {
    tensor = from_list(ElementType::f32, node.reals(key));
  } else if (key == "value_ints") {
    tensor = from_list(ElementType::i64, node.integers(key));
  } else if (key == "value_string" || key == "value_strings") {
    tensor = unreadable(ElementType::string, "tensors of strings are not supported");
  } else if (key == "sparse_value") {
    tensor = unreadable(ElementType::undefined,
                        "sparse tensors are not supported: store it as a dense one");
  } else {
    fail_input("a Constant has the unknown attribute '" + key + "'");
  }
  tensor->name = name;
  return tensor;
}

}  // namespace plimsoll::tensor::onnx
