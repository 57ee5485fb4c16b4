// Memory that nobody reserves piece by piece, as entries of the ledger. Why it exists: small blocks
// of the heap and the program's own pages are resident too; left out of the ledger they would be
// promised to somebody else. May touch: memory/.
//
//   process ─┬─ heap            what malloc has taken since the engine began, and a margin
//            └─ program pages   those of the program's file that were touched since
//
// Where the limit covers only what the engine adds, the host program's heap is none of ours: then
// the growth of the heap during a call of ours is what that call has taken (HeapGrowth). Other
// threads that allocate meanwhile blur it.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>

#include "memory/budget.h"
#include "memory/heap.h"

namespace plimsoll {

/// The process's heap and program pages, for an engine whose limit covers the process. Thread-safe.
class MeasuredMemory {
 public:
  /// `program_bytes`: resident pages of files when the engine began.
  MeasuredMemory(std::shared_ptr<memory::Budget> budget, std::uint64_t program_bytes);

  /// Brings both entries up to date. A refusal means that what is resident already leaves no room
  /// for it under the limit; the entries then stay as they were.
  [[nodiscard]] std::expected<void, Refusal> update();
  /// What the last update found no room for.
  [[nodiscard]] std::uint64_t unclaimed_bytes() const;

 private:
  [[nodiscard]] std::expected<void, Refusal> claim_heap();
  [[nodiscard]] std::expected<void, Refusal> claim_program();
  [[nodiscard]] std::uint64_t program_wanted() const;

  mutable std::mutex mutex_;
  std::shared_ptr<memory::Budget> budget_;
  std::uint64_t program_at_start_;
  std::uint64_t heap_at_start_;
  std::uint64_t unclaimed_bytes_ = 0;
  std::optional<memory::HeapEntry> heap_;
  memory::Reservation program_;
};

/// What the heap grows by while this lives.
class HeapGrowth {
 public:
  HeapGrowth() noexcept : before_(memory::probe_heap().used_bytes) {}
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    const std::uint64_t now = memory::probe_heap().used_bytes;
    return now - (now < before_ ? now : before_);
  }

 private:
  std::uint64_t before_;
};

/// The heap of one model or session, as far as it was seen to grow. One thread at a time.
class HeapShare {
 public:
  void add(std::uint64_t bytes) noexcept { bytes_ += bytes; }
  /// Reserves what has been added. Refused, it is tried again by the next call.
  [[nodiscard]] std::expected<void, Refusal> claim(memory::Budget& budget);
  [[nodiscard]] std::uint64_t unclaimed_bytes() const noexcept {
    return bytes_ - reservation_.bytes();
  }

 private:
  std::uint64_t bytes_ = 0;
  memory::Reservation reservation_;
};

}  // namespace plimsoll
