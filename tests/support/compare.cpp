#include "support/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "tensor/operators/dispatch.h"

namespace plimsoll::tensor::test {

double element_as_double(const ConstTensorView& view, std::int64_t index) {
  double result = 0;
  dispatch(view.type, AllTypes{}, [&]<typename T>(Tag<T>) {
    T element;
    std::memcpy(&element, view.data + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, Boolean>) {
      result = element.byte;
    } else {
      result = static_cast<double>(load(element));
    }
  });
  return result;
}

std::string difference(const ConstTensorView& actual, const ConstTensorView& expected,
                       Tolerance tolerance) {
  if (actual.type != expected.type) {
    return fmt::format("type {} instead of {}", element_name(actual.type),
                       element_name(expected.type));
  }
  if (actual.shape != expected.shape) {
    return fmt::format("shape {} instead of {}", actual.shape.to_string(),
                       expected.shape.to_string());
  }
  if (!is_floating(actual.type)) {
    const std::size_t size = element_size(actual.type);
    for (std::int64_t index = 0; index < actual.elements(); ++index) {
      const auto offset = static_cast<std::size_t>(index) * size;
      if (std::memcmp(actual.data + offset, expected.data + offset, size) != 0) {
        return fmt::format("element {} is {} instead of {}", index,
                           element_as_double(actual, index), element_as_double(expected, index));
      }
    }
    return "";
  }
  double worst = 0;
  std::string message;
  for (std::int64_t index = 0; index < actual.elements(); ++index) {
    const double a = element_as_double(actual, index);
    const double e = element_as_double(expected, index);
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    const double allowed = tolerance.absolute + tolerance.relative * std::fabs(e);
    const double excess = std::fabs(a - e) / (allowed > 0 ? allowed : 1e-300);
    // Not a number here, or infinite there, is never close.
    if (excess <= 1.0 && std::isfinite(a) == std::isfinite(e)) continue;
    if (message.empty() || excess > worst) {
      worst = excess;
      message = fmt::format("element {} is {} instead of {}", index, a, e);
    }
  }
  return message;
}

std::string difference(const DynamicValue& actual, const DynamicValue& expected,
                       Tolerance tolerance) {
  if (actual.index() != expected.index()) return "another kind of value (tensor, sequence, empty)";
  if (const auto* tensor = std::get_if<std::shared_ptr<const OwnedTensor>>(&actual)) {
    return difference((*tensor)->view(),
                      std::get<std::shared_ptr<const OwnedTensor>>(expected)->view(), tolerance);
  }
  const auto* sequence = std::get_if<std::shared_ptr<const SequenceValue>>(&actual);
  if (sequence == nullptr) return "";
  const auto& wanted = std::get<std::shared_ptr<const SequenceValue>>(expected)->items;
  const auto& found = (*sequence)->items;
  if (found.size() != wanted.size()) {
    return fmt::format("a sequence of {} instead of {}", found.size(), wanted.size());
  }
  for (std::size_t index = 0; index < found.size(); ++index) {
    std::string message = difference(found[index]->view(), wanted[index]->view(), tolerance);
    if (!message.empty()) return fmt::format("sequence element {}: {}", index, message);
  }
  return "";
}

}  // namespace plimsoll::tensor::test
