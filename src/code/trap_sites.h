// Addresses at which code may trap, and why. Why it exists: a signal handler must act only where a
// fault is expected, and a large module has a million such places; so a site costs two bytes or so.
// May touch: the standard library.
//
// For each site, in rising order: the distance from the one before as LEB128, then the kind's byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plimsoll::code {

/// Collects the sites of one code object.
class TrapSiteWriter {
 public:
  /// `offset` from the object's beginning, not below the one before; `kind` is the owner's.
  void add(std::uint32_t offset, std::uint8_t kind);
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_; }
  void clear() noexcept {
    bytes_.clear();
    last_ = 0;
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::uint32_t last_ = 0;
};

/// The kind of the site at exactly this offset. Async-signal-safe.
[[nodiscard]] std::optional<std::uint8_t> find_trap_site(std::span<const std::uint8_t> sites,
                                                         std::uint32_t offset) noexcept;

}  // namespace plimsoll::code
