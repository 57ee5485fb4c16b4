#include "engine/declared.h"

#include <fmt/format.h>

#include <string>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

std::string shape_words(const std::vector<tensor::Dimension>& dimensions) {
  if (dimensions.empty()) return "scalar";
  std::string words;
  for (const tensor::Dimension& dimension : dimensions) {
    if (!words.empty()) words += "x";
    if (dimension.value >= 0) {
      words += std::to_string(dimension.value);
    } else {
      words += dimension.symbol.empty() ? "?" : dimension.symbol;
    }
  }
  return words;
}

}  // namespace

std::string declared_words(const tensor::Value& value) {
  if (!value.declared) return "the model does not say of what type it is";
  const tensor::DeclaredType& declared = *value.declared;
  std::string words =
      declared.kind == tensor::DeclaredType::Kind::sequence ? "a sequence of " : std::string();
  words += declared.element == ElementType::undefined ? "any type" : element_name(declared.element);
  if (declared.dimensions) words += " " + shape_words(*declared.dimensions);
  return words;
}

void check_declared(const tensor::Value& value, ElementType element, const Shape& shape) {
  if (!value.declared || value.declared->kind != tensor::DeclaredType::Kind::tensor) return;
  const tensor::DeclaredType& declared = *value.declared;
  if (declared.element != ElementType::undefined && declared.element != element) {
    fail_input(fmt::format("input '{}' is {}, the value given is {}", value.name,
                           element_name(declared.element), element_name(element)));
  }
  if (!declared.dimensions) return;
  bool matches = declared.dimensions->size() == shape.rank();
  for (std::size_t axis = 0; matches && axis < shape.rank(); ++axis) {
    const std::int64_t wanted = (*declared.dimensions)[axis].value;
    matches = wanted < 0 || wanted == shape[axis];
  }
  if (!matches) {
    fail_input(fmt::format("input '{}' has shape {}, the value given has shape {}", value.name,
                           shape_words(*declared.dimensions), shape.to_string()));
  }
}

}  // namespace plimsoll
