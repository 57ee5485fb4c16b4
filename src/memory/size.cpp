#include "memory/size.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<Unit, 8> units{{{"", 1},
                                     {"B", 1},
                                     {"KiB", 1024},
                                     {"MiB", 1024 * 1024},
                                     {"GiB", 1024 * 1024 * 1024},
                                     {"kB", 1'000},
                                     {"MB", 1'000'000},
                                     {"GB", 1'000'000'000}}};
constexpr std::uint64_t largest_size = std::uint64_t{1} << 60;

[[noreturn]] void fail_size(std::string_view text, std::string_view cause) {
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is not a size: {}; give bytes, a number with KiB, MiB, GiB, kB, MB "
                          "or GB, or a percentage of the machine's memory such as 50%",
                          text, cause));
}

/// A number as written: whole ones exactly, others to a double's precision.
struct Number {
  std::optional<std::uint64_t> whole;
  double value = 0;
  std::string_view rest;
};

Number read_number(std::string_view text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.empty() || text.front() < '0' || text.front() > '9') {
    fail_size(text, "it does not start with a digit");
  }
  Number number;
  std::uint64_t whole = 0;
  const auto [whole_end, whole_error] = std::from_chars(begin, end, whole);
  const char* number_end = whole_end;
  if (whole_error == std::errc{} && (whole_end == end || *whole_end != '.')) {
    number.whole = whole;
    number.value = static_cast<double>(whole);
  } else {
    const auto [real_end, error] =
        std::from_chars(begin, end, number.value, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(number.value)) fail_size(text, "it is too large");
    number_end = real_end;
  }
  number.rest = {number_end, static_cast<std::size_t>(end - number_end)};
  while (number.rest.starts_with(' ')) number.rest.remove_prefix(1);
  return number;
}

/// number × bytes, checked.
std::uint64_t times(const Number& number, std::uint64_t bytes, std::string_view text) {
  const bool too_large =
      number.whole ? *number.whole > largest_size / bytes
                   : number.value * static_cast<double>(bytes) > static_cast<double>(largest_size);
  if (too_large) fail_size(text, "it is more than 2^60 bytes");
  if (number.whole) return *number.whole * bytes;
  return static_cast<std::uint64_t>(number.value * static_cast<double>(bytes));
}

}  // namespace

std::uint64_t parse_size(std::string_view text, std::uint64_t whole_bytes) {
  const Number number = read_number(text);
  std::optional<std::uint64_t> bytes;
  if (number.rest == "%") {
    if (number.value > 100) fail_size(text, "it is more than 100%");
    if (whole_bytes == 0) fail_size(text, "the machine does not tell how much memory it has");
    bytes = static_cast<std::uint64_t>(number.value / 100 * static_cast<double>(whole_bytes));
  }
  for (const Unit& unit : units) {
    if (number.rest == unit.name) bytes = times(number, unit.bytes, text);
  }
  if (!bytes) fail_size(text, fmt::format("'{}' is no unit", number.rest));
  if (*bytes == 0) fail_size(text, "it is less than one byte");
  return *bytes;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr double unit = 1024;
  if (bytes == 1) return "1 byte";
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  // The next unit where rounding would write 1024.0 of the smaller one.
  const auto value = static_cast<double>(bytes);
  if (value < 1023.95 * unit) return fmt::format("{:.1f} KiB", value / unit);
  if (value < 1023.95 * unit * unit) return fmt::format("{:.1f} MiB", value / (unit * unit));
  return fmt::format("{:.2f} GiB", value / (unit * unit * unit));
}

}  // namespace plimsoll::memory
