#include "cli/report/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plimsoll/values.h"

namespace plimsoll::cli {
namespace {

constexpr std::int64_t few_elements = 8;

template <typename Stored, typename Convert>
Statistics over(const ConstTensorView& tensor, Convert convert) {
  Statistics result;
  const Stored* const data = tensor.as<Stored>();
  const std::int64_t count = tensor.elements();
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -minimum;
  double sum = 0;
  for (std::int64_t index = 0; index < count; ++index) {
    const double value = convert(data[index]);
    if (count <= few_elements) result.first.push_back(value);
    if (std::isnan(value)) {
      ++result.not_numbers;
      continue;
    }
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    sum += value;
  }
  if (const std::int64_t numbers = count - result.not_numbers; numbers != 0) {
    result.minimum = minimum;
    result.maximum = maximum;
    result.mean = sum / static_cast<double>(numbers);
  }
  return result;
}

template <typename Stored>
Statistics plain(const ConstTensorView& tensor) {
  return over<Stored>(tensor, [](Stored value) { return static_cast<double>(value); });
}

}  // namespace

Statistics make_statistics(const ConstTensorView& tensor) {
  switch (tensor.type) {
    case ElementType::f32:
      return plain<float>(tensor);
    case ElementType::f64:
      return plain<double>(tensor);
    case ElementType::f16:
    case ElementType::bf16:
      return over<std::uint16_t>(tensor, [type = tensor.type](std::uint16_t bits) {
        return static_cast<double>(half_value(type, bits));
      });
    case ElementType::i64:
      return plain<std::int64_t>(tensor);
    case ElementType::i32:
      return plain<std::int32_t>(tensor);
    case ElementType::i16:
      return plain<std::int16_t>(tensor);
    case ElementType::i8:
      return plain<std::int8_t>(tensor);
    case ElementType::u64:
      return plain<std::uint64_t>(tensor);
    case ElementType::u32:
      return plain<std::uint32_t>(tensor);
    case ElementType::u16:
      return plain<std::uint16_t>(tensor);
    case ElementType::u8:
    case ElementType::boolean:
      return plain<std::uint8_t>(tensor);
    case ElementType::undefined:
    case ElementType::string:
      break;
  }
  return {};
}

}  // namespace plimsoll::cli
