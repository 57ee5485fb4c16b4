// Comparing values with expected ones. Why it exists: every test that runs a model compares, and
// says where it differs. May touch: operators/dynamic.h.
#pragma once

#include <string>

#include "tensor/operators/dynamic.h"

namespace plimsoll::tensor::test {

/// |actual − expected| ≤ absolute + relative · |expected|; integers and booleans exactly.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// Empty when they agree, else what is different: kind, type, shape, or the worst element.
[[nodiscard]] std::string difference(const ConstTensorView& actual, const ConstTensorView& expected,
                                     Tolerance tolerance);
[[nodiscard]] std::string difference(const DynamicValue& actual, const DynamicValue& expected,
                                     Tolerance tolerance);

/// Element `index` of any type as a double.
[[nodiscard]] double element_as_double(const ConstTensorView& view, std::int64_t index);

}  // namespace plimsoll::tensor::test
