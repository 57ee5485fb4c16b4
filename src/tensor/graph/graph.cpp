#include "tensor/graph/graph.h"

#include <fmt/format.h>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

template <typename T>
const T* typed(const Node& node, std::string_view key, const char* wanted) {
  const AttributeValue* value = node.attribute(key);
  if (value == nullptr) return nullptr;
  const T* result = std::get_if<T>(value);
  if (result == nullptr) fail_input(fmt::format("attribute '{}' must be {}", key, wanted));
  return result;
}

}  // namespace

const AttributeValue* Node::attribute(std::string_view key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : &found->second;
}

std::int64_t Node::integer(std::string_view key, std::int64_t fallback) const {
  const auto* value = typed<std::int64_t>(*this, key, "an integer");
  return value == nullptr ? fallback : *value;
}

std::int64_t Node::integer(std::string_view key) const {
  const auto* value = typed<std::int64_t>(*this, key, "an integer");
  if (value == nullptr) fail_input(fmt::format("attribute '{}' is missing", key));
  return *value;
}

float Node::real(std::string_view key, float fallback) const {
  const auto* value = typed<float>(*this, key, "a number");
  return value == nullptr ? fallback : *value;
}

std::string Node::text(std::string_view key, std::string_view fallback) const {
  const auto* value = typed<std::string>(*this, key, "a string");
  return value == nullptr ? std::string(fallback) : *value;
}

std::vector<std::int64_t> Node::integers(std::string_view key) const {
  const auto* value = typed<std::vector<std::int64_t>>(*this, key, "a list of integers");
  return value == nullptr ? std::vector<std::int64_t>{} : *value;
}

std::vector<float> Node::reals(std::string_view key) const {
  const auto* value = typed<std::vector<float>>(*this, key, "a list of numbers");
  return value == nullptr ? std::vector<float>{} : *value;
}

std::shared_ptr<const StoredTensor> Node::tensor(std::string_view key) const {
  const auto* value = typed<std::shared_ptr<const StoredTensor>>(*this, key, "a tensor");
  return value == nullptr ? nullptr : *value;
}

std::shared_ptr<const Graph> Node::graph(std::string_view key) const {
  const auto* value = typed<std::shared_ptr<const Graph>>(*this, key, "a graph");
  if (value == nullptr) fail_input(fmt::format("attribute '{}' is missing", key));
  return *value;
}

std::string Node::label() const {
  if (!name.empty()) return fmt::format("{} '{}'", op_type, name);
  return op_type;
}

}  // namespace plimsoll::tensor
