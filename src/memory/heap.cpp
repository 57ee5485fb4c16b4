#include "memory/heap.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "memory/block.h"

namespace plimsoll::memory {

void configure_heap() noexcept {
  // A fixed threshold also ends glibc's habit of raising it after a large block was freed.
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(smallest_block_bytes));
  mallopt(M_TRIM_THRESHOLD, 128 * 1024);
  // Growth in steps of 64 KiB: fewer calls of brk than by single pages, and little that is unused.
  mallopt(M_TOP_PAD, 64 * 1024);
  mallopt(M_ARENA_MAX, 1);
}

bool trim_heap() noexcept {
  return malloc_trim(0) != 0;
}

HeapUse probe_heap() noexcept {
  const struct mallinfo2 info = mallinfo2();
  HeapUse use;
  use.taken_bytes = info.arena + info.hblkhd;  // arenas, and blocks mapped by themselves
  use.used_bytes = info.uordblks + info.hblkhd;
  return use;
}

HeapEntry::HeapEntry(Reservation reservation, std::uint64_t margin_bytes,
                     std::uint64_t taken_at_start) noexcept
    : reservation_(std::move(reservation)),
      margin_bytes_(margin_bytes),
      taken_at_start_(taken_at_start) {}

std::expected<HeapEntry, Refusal> HeapEntry::open(Budget& budget, std::uint64_t margin_bytes,
                                                  std::uint64_t taken_at_start) {
  auto reservation = budget.reserve(margin_bytes, "heap");
  if (!reservation) return std::unexpected(std::move(reservation.error()));
  return HeapEntry(std::move(*reservation), margin_bytes, taken_at_start);
}

std::uint64_t HeapEntry::wanted_bytes() const noexcept {
  const std::uint64_t taken = probe_heap().taken_bytes;
  return taken - std::min(taken, taken_at_start_) + margin_bytes_;
}

std::expected<void, Refusal> HeapEntry::update() {
  if (auto granted = reservation_.resize(wanted_bytes()); granted) return granted;
  trim_heap();
  return reservation_.resize(wanted_bytes());
}

}  // namespace plimsoll::memory
