// What our own archives say of an entry in its metadata. Why it exists: IRPA knows neither types
// nor shapes nor contents' hashes, and leaves metadata to whoever writes. May touch:
// archive_type.h.
//
//   plimsoll/1\n
//   type=f32\n
//   shape=2x3\n                    "scalar" for no dimensions
//   xxh3=0123456789abcdef\n        XXH3, 64 bits, of the bytes; 16 dashes while it is not known
//
// Lines that are not known are passed over, so that later versions may add some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plimsoll/shape.h"
#include "tensor/archive/archive_type.h"

namespace plimsoll::tensor {

struct EntryFacts {
  ArchiveType type = ArchiveType::unknown;
  std::optional<Shape> shape;
  std::optional<std::uint64_t> hash;
};

/// Longer metadata are not ours.
inline constexpr std::size_t most_facts_bytes = 4096;
inline constexpr std::string_view facts_begin = "plimsoll/1\n";

/// Nothing when the text does not begin as ours do, or holds a line that cannot be.
[[nodiscard]] std::optional<EntryFacts> parse_entry_facts(std::string_view text);

/// The text without hash; where the hash's digits go is `hash_at` bytes from its begin.
struct FactsText {
  std::string text;
  std::size_t hash_at = 0;
};
[[nodiscard]] FactsText format_entry_facts(std::string_view type,
                                           const std::optional<Shape>& shape);
[[nodiscard]] std::string format_hash(std::uint64_t hash);  ///< 16 digits

}  // namespace plimsoll::tensor
