// Limits as people write them. May touch: the standard library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll {

/// "60MiB", "1.5GB", "4096", "50%" of the machine's memory. Throws Error(usage).
[[nodiscard]] std::uint64_t parse_limit(std::string_view text);
/// "57.3 MiB".
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace plimsoll
