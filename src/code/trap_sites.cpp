#include "code/trap_sites.h"

namespace plimsoll::code {

void TrapSiteWriter::add(std::uint32_t offset, std::uint8_t kind) {
  std::uint32_t distance = offset - last_;
  last_ = offset;
  while (distance >= 0x80) {
    bytes_.push_back(static_cast<std::uint8_t>(distance | 0x80U));
    distance >>= 7U;
  }
  bytes_.push_back(static_cast<std::uint8_t>(distance));
  bytes_.push_back(kind);
}

std::optional<std::uint8_t> find_trap_site(std::span<const std::uint8_t> sites,
                                           std::uint32_t offset) noexcept {
  std::uint32_t at = 0;
  std::size_t index = 0;
  while (index < sites.size()) {
    std::uint32_t distance = 0;
    unsigned shift = 0;
    while (index < sites.size() && sites[index] >= 0x80) {
      distance |= (sites[index++] & 0x7FU) << shift;
      shift += 7;
    }
    if (index + 1 >= sites.size()) return std::nullopt;
    distance |= static_cast<std::uint32_t>(sites[index++]) << shift;
    const std::uint8_t kind = sites[index++];
    at += distance;
    if (at == offset) return kind;
    if (at > offset) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace plimsoll::code
