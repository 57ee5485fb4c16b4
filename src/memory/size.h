// Sizes as people write them. Why it exists: limits come from the command line and go into
// messages; one parser and one printer keep them consistent. May touch: the standard library,
// plimsoll/error.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll::memory {

/// "4096", "60MiB", "1.5GB", "50%" (of `whole_bytes`). Units: B, KiB, MiB, GiB (1024) and kB, MB,
/// GB (1000). Throws Error(usage) naming what is accepted; zero and what exceeds 2^60 are refused.
[[nodiscard]] std::uint64_t parse_size(std::string_view text, std::uint64_t whole_bytes);

/// "57.3 MiB"; exact bytes below 1 KiB.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace plimsoll::memory
