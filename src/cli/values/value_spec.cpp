#include "cli/values/value_spec.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "plimsoll/error.h"
#include "plimsoll/values.h"

namespace plimsoll::cli {
namespace {

constexpr std::string_view random_prefix = "random:";

/// Case does not matter: cameras write .JPG.
bool ends_with(std::string_view text, std::string_view ending) {
  if (text.size() <= ending.size()) return false;
  text.remove_prefix(text.size() - ending.size());
  for (std::size_t at = 0; at < ending.size(); ++at) {
    const char c = text[at];
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower != ending[at]) return false;
  }
  return true;
}

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint64_t parse_seed(std::string_view text) {
  const auto seed = parse_whole<std::uint64_t>(text.substr(random_prefix.size()));
  if (!seed) {
    fail_input(
        fmt::format("'{}': the seed must be a whole number from 0 to 2^64 − 1, as in "
                    "random:1",
                    text));
  }
  return *seed;
}

[[noreturn]] void fail_number(std::string_view text, ElementType type, std::string_view why) {
  fail_input(fmt::format("'{}' is no {}: {}", text, element_name(type), why));
}

template <typename T>
void store(ConstantValue& value, T element) {
  static_assert(sizeof(T) <= sizeof value.element);
  std::memcpy(value.element.data(), &element, sizeof element);
}

template <typename T>
void store_integer(ConstantValue& value, std::string_view text) {
  const auto whole = parse_whole<T>(text);
  if (!whole) {
    fail_number(text, value.type.type,
                fmt::format("give a whole number from {} to {}", std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max()));
  }
  store(value, *whole);
}

void store_real(ConstantValue& value, std::string_view text) {
  const ElementType type = value.type.type;
  const auto real = parse_whole<double>(text);
  if (!real) fail_number(text, type, "give a number such as 0.5, 1e-3, inf or nan");
  const bool finite = std::isfinite(*real);
  const std::string_view too_large = "it is larger than that type holds";
  if (type == ElementType::f64) {
    store(value, *real);
    return;
  }
  if (finite && std::abs(*real) > static_cast<double>(std::numeric_limits<float>::max())) {
    fail_number(text, type, too_large);
  }
  const auto single = static_cast<float>(*real);
  if (type == ElementType::f32) {
    store(value, single);
    return;
  }
  const std::uint16_t bits = half_bits(type, single);
  if (finite && !std::isfinite(half_value(type, bits))) fail_number(text, type, too_large);
  store(value, bits);
}

void store_boolean(ConstantValue& value, std::string_view text) {
  const bool yes = text == "1" || text == "true";
  if (!yes && text != "0" && text != "false") {
    fail_number(text, ElementType::boolean, "give 0, 1, false or true");
  }
  store(value, static_cast<std::uint8_t>(yes));
}

ConstantValue parse_constant(const ValueType& type, std::string_view text) {
  ConstantValue value;
  value.type = type;
  switch (type.type) {
    case ElementType::f64:
    case ElementType::f32:
    case ElementType::f16:
    case ElementType::bf16:
      store_real(value, text);
      break;
    case ElementType::i64:
      store_integer<std::int64_t>(value, text);
      break;
    case ElementType::i32:
      store_integer<std::int32_t>(value, text);
      break;
    case ElementType::i16:
      store_integer<std::int16_t>(value, text);
      break;
    case ElementType::i8:
      store_integer<std::int8_t>(value, text);
      break;
    case ElementType::u64:
      store_integer<std::uint64_t>(value, text);
      break;
    case ElementType::u32:
      store_integer<std::uint32_t>(value, text);
      break;
    case ElementType::u16:
      store_integer<std::uint16_t>(value, text);
      break;
    case ElementType::u8:
      store_integer<std::uint8_t>(value, text);
      break;
    case ElementType::boolean:
      store_boolean(value, text);
      break;
    case ElementType::undefined:
    case ElementType::string:
      fail_internal("parse_value_type gave a type without numbers");
  }
  return value;
}

[[noreturn]] void fail_value(std::string_view text) {
  fail_input(fmt::format(
      "'{}' is no value: give a file (.npy, .npz:KEY, .pb, .png, .jpg), a constant such "
      "as 1x3x8x8xf32=0.5 or i64=16000, or random:SEED",
      text));
}

}  // namespace

bool is_random(std::string_view text) {
  return text.starts_with(random_prefix);
}

std::optional<std::int64_t> parse_dimension(std::string_view text) {
  // from_chars would take a minus sign.
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const auto value = parse_whole<std::int64_t>(text);
  if (!value || *value >= (std::int64_t{1} << 62)) return std::nullopt;
  return value;
}

std::optional<Shape> parse_shape(std::string_view text) {
  if (text == "scalar") return Shape();
  std::vector<std::int64_t> dimensions;
  for (;;) {
    const std::size_t end = text.find('x');
    const auto dimension = parse_dimension(text.substr(0, end));
    if (!dimension) return std::nullopt;
    dimensions.push_back(*dimension);
    if (end == std::string_view::npos) return Shape(dimensions);
    text.remove_prefix(end + 1);
  }
}

std::optional<ValueType> parse_value_type(std::string_view text) {
  const std::size_t last = text.rfind('x');
  const auto type =
      element_type_from_name(last == std::string_view::npos ? text : text.substr(last + 1));
  if (!type || element_size(*type) == 0) return std::nullopt;
  if (last == std::string_view::npos) return ValueType{*type, Shape()};
  if (text.starts_with("scalar")) return std::nullopt;
  try {
    const auto shape = parse_shape(text.substr(0, last));
    if (!shape) return std::nullopt;
    (void)checked_bytes(*shape, element_size(*type), "the value");
    return ValueType{*type, *shape};
  } catch (Error& error) {
    error.add_context(fmt::format("'{}'", text));
    throw;
  }
}

ValueSpec parse_value(std::string_view text) {
  if (is_random(text)) return RandomValue{std::nullopt, parse_seed(text)};
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    if (const auto type = parse_value_type(text.substr(0, equals))) {
      const std::string_view number = text.substr(equals + 1);
      if (is_random(number)) return RandomValue{*type, parse_seed(number)};
      return parse_constant(*type, number);
    }
  }
  if (ends_with(text, ".npy")) return NpyFile{std::string(text)};
  if (ends_with(text, ".npz")) return NpzEntry{std::string(text), {}};
  if (ends_with(text, ".pb")) return ProtoFile{std::string(text)};
  if (ends_with(text, ".png") || ends_with(text, ".jpg") || ends_with(text, ".jpeg")) {
    return ImageFile{std::string(text)};
  }
  if (const std::size_t at = text.rfind(".npz:"); at != std::string_view::npos && at != 0) {
    return NpzEntry{std::string(text.substr(0, at + 4)), std::string(text.substr(at + 5))};
  }
  fail_value(text);
}

}  // namespace plimsoll::cli
