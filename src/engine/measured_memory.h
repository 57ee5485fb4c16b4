// Memory that nobody reserves piece by piece, as entries of the ledger. Why it exists: small blocks
// of the heap and the program's own pages are resident too; left out of the ledger they would be
// promised to somebody else. May touch: memory/.
//
//   process ─┬─ heap            what malloc has taken since the engine began, and a margin
//            └─ program pages   those of the program's file that were touched since
//
// Where the limit covers only what the engine adds, the host program's own are none of ours: then
// the growth during a call of ours is what that call has taken (UnreservedGrowth). Other threads
// that allocate meanwhile blur it.
#pragma once

#include <algorithm>
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

/// What the heap and the program's resident pages grow by while this lives.
class UnreservedGrowth {
 public:
  UnreservedGrowth();
  [[nodiscard]] std::uint64_t heap_bytes() const;     ///< goes with the object that was made
  [[nodiscard]] std::uint64_t program_bytes() const;  ///< stays: touched pages remain resident

 private:
  std::uint64_t heap_before_;
  std::uint64_t program_before_;
};

/// What an engine, model or session was seen to take without a reservation. One thread at a time.
class UnreservedShare {
 public:
  /// A plan replaces the one before, so the largest counts.
  void add_plan(std::uint64_t bytes) noexcept { plan_bytes_ = std::max(plan_bytes_, bytes); }
  /// What is loaded stays.
  void add_load(std::uint64_t bytes) noexcept { load_bytes_ += bytes; }
  /// Reserves what has been added. Refused, it is tried again by the next call.
  [[nodiscard]] std::expected<void, Refusal> claim(memory::Budget& budget);
  [[nodiscard]] std::uint64_t reserved_bytes() const noexcept { return reservation_.bytes(); }
  [[nodiscard]] std::uint64_t unclaimed_bytes() const noexcept {
    return plan_bytes_ + load_bytes_ - reservation_.bytes();
  }

 private:
  std::uint64_t plan_bytes_ = 0;
  std::uint64_t load_bytes_ = 0;
  memory::Reservation reservation_;
};

}  // namespace plimsoll
