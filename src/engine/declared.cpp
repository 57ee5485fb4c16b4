#include "engine/declared.h"

#include <fmt/format.h>

#include <string>

#include "plimsoll/error.h"

namespace plimsoll {

void check_declared(const tensor::Value& value, ElementType element, const Shape& shape) {
  if (!value.declared || value.declared->kind != tensor::DeclaredType::Kind::tensor) return;
  const tensor::DeclaredType& declared = *value.declared;
  if (declared.element != ElementType::undefined && declared.element != element) {
    fail_input(fmt::format("input '{}' is {}, the value given is {}", value.name,
                           element_name(declared.element), element_name(element)));
  }
  if (!declared.dimensions) return;
  std::string wanted;
  bool matches = declared.dimensions->size() == shape.rank();
  for (std::size_t axis = 0; axis < declared.dimensions->size(); ++axis) {
    const tensor::Dimension& dimension = (*declared.dimensions)[axis];
    if (axis != 0) wanted += "x";
    wanted += dimension.value >= 0 ? std::to_string(dimension.value)
                                   : (dimension.symbol.empty() ? "?" : dimension.symbol);
    if (matches && dimension.value >= 0 && dimension.value != shape[axis]) matches = false;
  }
  if (!matches) {
    fail_input(fmt::format("input '{}' has shape {}, the value given has shape {}", value.name,
                           wanted.empty() ? "scalar" : wanted, shape.to_string()));
  }
}

}  // namespace plimsoll
