#include "wasm/binary/utf8.h"

#include <cstddef>
#include <cstdint>

namespace plimsoll::wasm {
namespace {

/// Of the first byte: how many follow and what the second may be; `follow` 0 with low 1: no lead.
struct Lead {
  unsigned follow = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  bool valid = true;
};

Lead lead_of(std::uint8_t byte) noexcept {
  if (byte < 0x80) return {};
  if (byte >= 0xC2 && byte <= 0xDF) return {.follow = 1};
  if (byte == 0xE0) return {.follow = 2, .low = 0xA0};
  if (byte == 0xED) return {.follow = 2, .high = 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {.follow = 2};
  if (byte == 0xF0) return {.follow = 3, .low = 0x90};
  if (byte >= 0xF1 && byte <= 0xF3) return {.follow = 3};
  if (byte == 0xF4) return {.follow = 3, .high = 0x8F};
  return {.valid = false};
}

}  // namespace

bool is_utf8(std::string_view bytes) noexcept {
  std::size_t index = 0;
  while (index < bytes.size()) {
    const Lead lead = lead_of(static_cast<std::uint8_t>(bytes[index]));
    if (!lead.valid || lead.follow > bytes.size() - index - 1) return false;
    for (unsigned next = 1; next <= lead.follow; ++next) {
      const auto byte = static_cast<std::uint8_t>(bytes[index + next]);
      const std::uint8_t low = next == 1 ? lead.low : 0x80;
      const std::uint8_t high = next == 1 ? lead.high : 0xBF;
      if (byte < low || byte > high) return false;
    }
    index += lead.follow + 1;
  }
  return true;
}

}  // namespace plimsoll::wasm
