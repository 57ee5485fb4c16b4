#include "memory/size.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr std::array<Unit, 8> units{{{"KiB", 1024.0},
                                     {"MiB", 1024.0 * 1024},
                                     {"GiB", 1024.0 * 1024 * 1024},
                                     {"kB", 1e3},
                                     {"MB", 1e6},
                                     {"GB", 1e9},
                                     {"B", 1.0},
                                     {"", 1.0}}};
constexpr double largest_size = 1152921504606846976.0;  // 2^60

[[noreturn]] void fail_size(std::string_view text) {
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is not a size: give bytes, a number with KiB, MiB, GiB, kB, MB or "
                          "GB, or a percentage of the machine such as 50%",
                          text));
}

}  // namespace

std::uint64_t parse_size(std::string_view text, std::uint64_t whole_bytes) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number <= 0) fail_size(text);
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (suffix.starts_with(' ')) suffix.remove_prefix(1);
  double bytes = -1;
  if (suffix == "%") {
    if (number > 100) fail_size(text);
    bytes = number / 100 * static_cast<double>(whole_bytes);
  }
  for (const Unit& unit : units) {
    if (suffix == unit.name) bytes = number * unit.bytes;
  }
  if (bytes < 1 || bytes > largest_size) fail_size(text);
  return static_cast<std::uint64_t>(bytes);
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  const auto value = static_cast<double>(bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", value / 1024);
  if (bytes < 1024ULL * 1024 * 1024) return fmt::format("{:.1f} MiB", value / (1024 * 1024));
  return fmt::format("{:.2f} GiB", value / (1024.0 * 1024 * 1024));
}

}  // namespace plimsoll::memory
