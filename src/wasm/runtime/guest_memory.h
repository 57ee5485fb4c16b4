// A linear memory. Why it exists: guests address it, the budget pays for it. May touch:
// memory/budget.h, mmap, context.h.
//
//   | accessible, claimed |  reserved, no access … up to 8 GiB + 64 KiB  |
//   0                     bytes
//
// With that reservation every 32-bit index plus every 32-bit offset lies inside, so a fault there
// is the bounds check. Where the address space cannot be had (`ulimit -v`), only the bytes that are
// accessible are mapped, may move when it grows, and code must compare.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>

#include "memory/budget.h"
#include "plimsoll/refusal.h"
#include "wasm/binary/module.h"
#include "wasm/runtime/context.h"

namespace plimsoll::wasm {

inline constexpr std::uint64_t guarded_bytes = (std::uint64_t{8} << 30U) + wasm_page_bytes;

/// One thread at a time, but for reading the view from the guest that runs in it.
class GuestMemory {
 public:
  /// Claims and maps the minimum. `with_guard` asks for the reservation above; without it, or where
  /// the kernel refuses it, the memory has none: see `has_guard`.
  [[nodiscard]] static std::expected<std::unique_ptr<GuestMemory>, Refusal> create(
      const std::shared_ptr<memory::Budget>& budget, const MemoryType& type, bool with_guard);
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;
  ~GuestMemory();

  /// The size before in pages, or −1 where the maximum, the budget or the kernel says no.
  [[nodiscard]] std::int64_t grow(std::uint64_t pages);
  [[nodiscard]] bool has_guard() const noexcept { return has_guard_; }
  [[nodiscard]] std::uint64_t pages() const noexcept { return view_.bytes / wasm_page_bytes; }
  [[nodiscard]] const MemoryType& type() const noexcept { return type_; }
  [[nodiscard]] MemoryView& view() noexcept { return view_; }

 private:
  GuestMemory(const MemoryType& type, memory::Reservation claim) noexcept;
  [[nodiscard]] bool make_accessible(std::uint64_t bytes);

  MemoryType type_;
  MemoryView view_;
  std::uint64_t mapped_ = 0;
  bool has_guard_ = false;
  std::shared_ptr<memory::Budget> budget_;
  memory::Reservation claim_;
};

}  // namespace plimsoll::wasm
