#include "tensor/graph/graph.h"

#include <fmt/format.h>

#include <array>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

// In the order of AttributeValue's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<AttributeValue>> kind_names{
    "an integer",       "a float",           "a string", "a list of integers",
    "a list of floats", "a list of strings", "a tensor", "a graph",
    "a type",           "unsupported"};

// The attribute as T; null where it is absent. Whoever runs the node adds its label to the message.
template <typename T>
const T* get(const Node& node, std::string_view key) {
  const AttributeValue* value = node.attribute(key);
  if (value == nullptr) return nullptr;
  if (const T* found = std::get_if<T>(value)) return found;
  if (const auto* unsupported = std::get_if<UnsupportedAttribute>(value)) {
    fail_unsupported(
        fmt::format("attribute '{}' is {}, which is not supported", key, unsupported->kind));
  }
  const std::size_t wanted = AttributeValue(std::in_place_type<T>).index();
  fail_input(fmt::format("attribute '{}' is {}, but it must be {}", key, kind_names[value->index()],
                         kind_names[wanted]));
}

template <typename T>
const T& require(const Node& node, std::string_view key) {
  const T* found = get<T>(node, key);
  if (found == nullptr) {
    fail_input(fmt::format("attribute '{}' is missing", key));
  }
  return *found;
}

}  // namespace

const AttributeValue* Node::attribute(std::string_view key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : &found->second;
}

std::int64_t Node::integer(std::string_view key, std::int64_t fallback) const {
  const auto* found = get<std::int64_t>(*this, key);
  return found == nullptr ? fallback : *found;
}

std::int64_t Node::integer(std::string_view key) const {
  return require<std::int64_t>(*this, key);
}

float Node::real(std::string_view key, float fallback) const {
  const auto* found = get<float>(*this, key);
  return found == nullptr ? fallback : *found;
}

std::string Node::text(std::string_view key, std::string_view fallback) const {
  const auto* found = get<std::string>(*this, key);
  return found == nullptr ? std::string(fallback) : *found;
}

std::vector<std::int64_t> Node::integers(std::string_view key) const {
  const auto* found = get<std::vector<std::int64_t>>(*this, key);
  return found == nullptr ? std::vector<std::int64_t>{} : *found;
}

std::vector<float> Node::reals(std::string_view key) const {
  const auto* found = get<std::vector<float>>(*this, key);
  return found == nullptr ? std::vector<float>{} : *found;
}

std::shared_ptr<const StoredTensor> Node::tensor(std::string_view key) const {
  return require<std::shared_ptr<const StoredTensor>>(*this, key);
}

std::shared_ptr<const Graph> Node::graph(std::string_view key) const {
  return require<std::shared_ptr<const Graph>>(*this, key);
}

std::string Node::label() const {
  std::string operation = domain.empty() ? op_type : fmt::format("{}.{}", domain, op_type);
  return name.empty() ? operation : fmt::format("{} '{}'", operation, name);
}

}  // namespace plimsoll::tensor
