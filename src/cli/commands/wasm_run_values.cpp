#include "cli/commands/wasm_run_values.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "plimsoll/error.h"
#include "wasm/runtime/reference.h"

namespace plimsoll::cli {
namespace {

using wasm::Cell;
using wasm::ValueType;

std::optional<std::uint64_t> magnitude(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Everything that fits in so many bits, as signed or as unsigned number.
std::optional<std::uint64_t> integer(std::string_view text, unsigned bits) {
  const bool negative = text.starts_with('-');
  const auto value = magnitude(negative ? text.substr(1) : text);
  if (!value) return std::nullopt;
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  const std::uint64_t all = half | (half - 1);
  if (*value > (negative ? half : all)) return std::nullopt;
  return (negative ? 0 - *value : *value) & all;
}

template <typename Float>
std::optional<Float> floating(const std::string& text) {
  if (text.empty() || text.front() == ' ') return std::nullopt;
  char* stop = nullptr;
  Float value{};
  if constexpr (sizeof(Float) == sizeof(float)) {
    value = std::strtof(text.c_str(), &stop);
  } else {
    value = std::strtod(text.c_str(), &stop);
  }
  if (stop != text.c_str() + text.size()) return std::nullopt;
  return value;
}

std::optional<Cell> vector(std::string_view text) {
  constexpr std::size_t half = 16;
  if (!text.starts_with("0x") || text.size() == 2 || text.size() > 2 + 2 * half) {
    return std::nullopt;
  }
  text.remove_prefix(2);
  const std::size_t low_digits = std::min(half, text.size());
  const auto digits = [](std::string_view part) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value, 16);
    if (error != std::errc() || stop != part.data() + part.size()) return std::nullopt;
    return value;
  };
  const auto low = digits(text.substr(text.size() - low_digits));
  const auto high = text.size() == low_digits ? std::optional<std::uint64_t>(0)
                                              : digits(text.substr(0, text.size() - low_digits));
  if (!low || !high) return std::nullopt;
  return Cell{*low, *high};
}

std::optional<Cell> parse(const std::string& text, ValueType type) {
  const auto in_cell = [](std::optional<std::uint64_t> bits) {
    return bits ? std::optional<Cell>(Cell{*bits, 0}) : std::nullopt;
  };
  switch (type.kind()) {
    case ValueType::Kind::i32:
      return in_cell(integer(text, 32));
    case ValueType::Kind::i64:
      return in_cell(integer(text, 64));
    case ValueType::Kind::f32:
      if (const auto value = floating<float>(text)) {
        return Cell{std::bit_cast<std::uint32_t>(*value), 0};
      }
      return std::nullopt;
    case ValueType::Kind::f64:
      if (const auto value = floating<double>(text)) {
        return Cell{std::bit_cast<std::uint64_t>(*value), 0};
      }
      return std::nullopt;
    case ValueType::Kind::v128:
      return vector(text);
    case ValueType::Kind::reference:
      if (type.is_nullable() && text == "null") return Cell{};
      return std::nullopt;
    case ValueType::Kind::bottom:
      break;
  }
  return std::nullopt;
}

}  // namespace

Cell parse_guest_value(const std::string& text, ValueType type) {
  const auto cell = parse(text, type);
  if (!cell) {
    fail_input(fmt::format("'{}' is no {} that can be given on a command line", text,
                           wasm::to_string(type)));
  }
  return *cell;
}

std::string format_guest_value(const Cell& cell, ValueType type) {
  switch (type.kind()) {
    case ValueType::Kind::i32:
      return fmt::format("{}", static_cast<std::int32_t>(cell.low));
    case ValueType::Kind::i64:
      return fmt::format("{}", static_cast<std::int64_t>(cell.low));
    case ValueType::Kind::f32:
      return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(cell.low)));
    case ValueType::Kind::f64:
      return fmt::format("{}", std::bit_cast<double>(cell.low));
    case ValueType::Kind::v128:
      return fmt::format("0x{:016x}{:016x}", cell.high, cell.low);
    case ValueType::Kind::reference:
      if (cell.low == 0) return "null";
      if (wasm::reference::is_i31(cell.low)) return "i31";
      return (cell.low & 3U) == 0 ? "function" : "external";
    case ValueType::Kind::bottom:
      break;
  }
  return "?";
}

}  // namespace plimsoll::cli
