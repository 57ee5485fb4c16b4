// The heap as one entry of the ledger. Why it exists: small allocations are too many to be reserved
// one by one, so what they take together is measured and reserved with a margin; and malloc is told
// to behave so that the measure means something. May touch: budget.h, malloc's tuning and figures.
//
// In sanitizer builds malloc is not glibc's: the figures are zero and the settings do nothing.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>

#include "memory/budget.h"

namespace plimsoll::memory {

/// Makes malloc predictable, for the whole process; call before threads start. One arena (each
/// further one reserves 64 MiB of address space and keeps what its thread freed), blocks from 64
/// KiB on mapped and unmapped by themselves, no more than 128 KiB of free memory kept at the top. A
/// library inside somebody else's program has no right to this; the command line does.
void configure_heap() noexcept;

/// Gives free heap pages back to the kernel (malloc_trim); true if any were.
bool trim_heap() noexcept;

/// Bytes the heap has taken from the kernel (upper bound of what is resident of it), and what of
/// that is in use.
struct HeapUse {
  std::uint64_t taken_bytes = 0;
  std::uint64_t used_bytes = 0;
};
[[nodiscard]] HeapUse probe_heap() noexcept;

/// Holds the heap's growth since its construction as a reservation. One thread at a time.
class HeapEntry {
 public:
  /// What the heap may grow by between two updates without breaking the limit.
  static constexpr std::uint64_t default_margin_bytes = 256 * 1024;

  /// Reserves the margin. What the heap grows by counts from `taken_at_start` on, which is what
  /// probe_heap() said at an earlier time, or says now.
  [[nodiscard]] static std::expected<HeapEntry, Refusal> open(
      Budget& budget, std::uint64_t margin_bytes = default_margin_bytes,
      std::uint64_t taken_at_start = probe_heap().taken_bytes);

  /// Sets the reservation to what the heap has grown by, and the margin. Where it does not fit,
  /// free pages are trimmed and it is tried once more; refused, the entry stays as it was.
  [[nodiscard]] std::expected<void, Refusal> update();
  [[nodiscard]] std::uint64_t bytes() const noexcept { return reservation_.bytes(); }

 private:
  HeapEntry(Reservation reservation, std::uint64_t margin_bytes,
            std::uint64_t taken_at_start) noexcept;
  [[nodiscard]] std::uint64_t wanted_bytes() const noexcept;

  Reservation reservation_;
  std::uint64_t margin_bytes_;
  std::uint64_t taken_at_start_;
};

}  // namespace plimsoll::memory
