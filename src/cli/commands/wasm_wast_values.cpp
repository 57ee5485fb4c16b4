#include "cli/commands/wasm_wast_values.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "plimsoll/error.h"
#include "wasm/runtime/reference.h"

namespace plimsoll::cli {
namespace {

using Json = nlohmann::json;
using wasm::Cell;
using wasm::ValueType;

/// Decimal, signed or not, as the bits of 64.
std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const bool negative = text.starts_with('-');
  const char* begin = text.data() + (negative ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end) fail_input(fmt::format("'{}' is no number", text));
  return negative ? 0 - value : value;
}

unsigned lane_bits(const std::string& type) {
  if (type == "i8") return 8;
  if (type == "i16") return 16;
  return type == "i32" || type == "f32" ? 32 : 64;
}

std::uint64_t lane_of(const Cell& cell, unsigned bits, std::size_t lane) {
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(&cell) + lane * bits / 8, bits / 8);
  return value;
}

/// A number, or a class of NaN, against bits.
bool number_matches(const std::string& expected, std::uint64_t bits, unsigned width) {
  const unsigned mantissa = width == 32 ? 23 : 52;
  const std::uint64_t all = width == 64 ? UINT64_MAX : (std::uint64_t{1} << width) - 1;
  const std::uint64_t quiet = std::uint64_t{1} << (mantissa - 1);
  const std::uint64_t fraction = (std::uint64_t{1} << mantissa) - 1;
  const std::uint64_t exponent = all >> 1U & ~fraction;
  const bool is_nan = (bits & exponent) == exponent && (bits & fraction) != 0;
  if (expected == "nan:canonical") return is_nan && (bits & fraction) == quiet;
  if (expected == "nan:arithmetic") return is_nan && (bits & quiet) != 0;
  return (number(expected) & all) == (bits & all);
}

bool reference_matches(const Json& expected, const std::string& kind, std::uint64_t found) {
  if (kind == "refnull" || kind.starts_with("null")) return found == 0;
  if (!expected.contains("value")) {
    if (kind == "i31ref") return (found & 1U) != 0;
    if (kind == "funcref") return found != 0 && (found & 3U) == 0;
    return found != 0;
  }
  const std::string value = expected.at("value");
  if (value == "null") return found == 0;
  return found == wasm::reference::of_host(number(value));
}

}  // namespace

Cell wast_value(const Json& value) {
  const std::string type = value.at("type");
  Cell cell;
  if (type == "v128") {
    const unsigned bits = lane_bits(value.at("lane_type"));
    std::size_t lane = 0;
    for (const auto& text : value.at("value")) {
      const std::uint64_t one = number(text);
      std::memcpy(reinterpret_cast<char*>(&cell) + lane++ * bits / 8, &one, bits / 8);
    }
    return cell;
  }
  if (!value.contains("value")) return cell;  // nullref
  const std::string text = value.at("value");
  if (text == "null") return cell;
  const std::uint64_t one = number(text);
  if (type == "i32" || type == "f32") {
    cell.low = static_cast<std::uint32_t>(one);
  } else if (type == "i64" || type == "f64") {
    cell.low = one;
  } else if (type == "externref" || type == "anyref") {
    cell.low = wasm::reference::of_host(one);
  } else {
    fail_input(fmt::format("a script gives a value of type '{}'", type));
  }
  return cell;
}

bool wast_matches(const Json& expected, ValueType type, const Cell& found) {
  const std::string kind = expected.at("type");
  if (kind == "either") {
    for (const Json& one : expected.at("values")) {
      if (wast_matches(one, type, found)) return true;
    }
    return false;
  }
  if (kind == "v128") {
    const unsigned bits = lane_bits(expected.at("lane_type"));
    std::size_t lane = 0;
    for (const auto& text : expected.at("value")) {
      if (!number_matches(text, lane_of(found, bits, lane++), bits)) return false;
    }
    return true;
  }
  if (kind == "i32" || kind == "f32") return number_matches(expected.at("value"), found.low, 32);
  if (kind == "i64" || kind == "f64") return number_matches(expected.at("value"), found.low, 64);
  return type.is_reference() && reference_matches(expected, kind, found.low);
}

std::string wast_describe(ValueType type, const Cell& cell) {
  if (type == wasm::v128_type) return fmt::format("v128 {:#018x}{:016x}", cell.high, cell.low);
  const bool narrow = type == wasm::i32_type || type == wasm::f32_type;
  return fmt::format("{} {:#x}", wasm::to_string(type),
                     narrow ? static_cast<std::uint32_t>(cell.low) : cell.low);
}

}  // namespace plimsoll::cli
