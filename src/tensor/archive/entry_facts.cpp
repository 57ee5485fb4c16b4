#include "tensor/archive/entry_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

constexpr std::size_t hash_digits = 16;

template <class Number>
bool parse_whole(std::string_view text, Number& number, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Shape> shape_from(std::string_view text) {
  if (text == "scalar") return Shape{};
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  std::size_t rank = 0;
  while (true) {
    const std::size_t end = std::min(text.find('x'), text.size());
    if (rank == dimensions.size() || !parse_whole(text.substr(0, end), dimensions[rank], 10) ||
        dimensions[rank] < 0) {
      return std::nullopt;
    }
    ++rank;
    if (end == text.size()) break;
    text.remove_prefix(end + 1);
  }
  try {
    return Shape(std::span<const std::int64_t>(dimensions.data(), rank));
  } catch (const Error&) {
    return std::nullopt;  // too many elements
  }
}

bool parse_line(std::string_view line, EntryFacts& facts) {
  const std::size_t equals = std::min(line.find('='), line.size());
  const std::string_view name = line.substr(0, equals);
  const std::string_view value = line.substr(std::min(equals + 1, line.size()));
  if (name == "type") {
    const auto type = archive_type_from_name(value);
    if (!type) return false;
    facts.type = *type;
  } else if (name == "shape") {
    facts.shape = shape_from(value);
    return facts.shape.has_value();
  } else if (name == "xxh3" && value != std::string(hash_digits, '-')) {
    std::uint64_t hash = 0;
    if (value.size() != hash_digits || !parse_whole(value, hash, 16)) return false;
    facts.hash = hash;
  }
  return true;
}

}  // namespace

std::optional<EntryFacts> parse_entry_facts(std::string_view text) {
  if (!text.starts_with(facts_begin)) return std::nullopt;
  text.remove_prefix(facts_begin.size());
  EntryFacts facts;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || !parse_line(text.substr(0, end), facts)) {
      return std::nullopt;
    }
    text.remove_prefix(end + 1);
  }
  return facts;
}

FactsText format_entry_facts(std::string_view type, const std::optional<Shape>& shape) {
  std::string text(facts_begin);
  if (!type.empty()) text += fmt::format("type={}\n", type);
  if (shape) text += fmt::format("shape={}\n", shape->to_string());
  text += "xxh3=";
  const std::size_t hash_at = text.size();
  text.append(hash_digits, '-');
  text += '\n';
  return {std::move(text), hash_at};
}

std::string format_hash(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

}  // namespace plimsoll::tensor
