#include "engine/measured_memory.h"

#include <algorithm>
#include <utility>

#include "memory/probe.h"

namespace plimsoll {
namespace {

/// Makes `reservation` hold `bytes`; a first claim for nothing is none.
std::expected<void, Refusal> hold(memory::Reservation& reservation, std::uint64_t bytes,
                                  memory::Budget& budget, std::string_view purpose) {
  if (reservation.bytes() != 0) return reservation.resize(bytes);
  if (bytes == 0) return {};
  auto claimed = budget.reserve(bytes, purpose);
  if (!claimed) return std::unexpected(std::move(claimed.error()));
  reservation = std::move(*claimed);
  return {};
}

}  // namespace

MeasuredMemory::MeasuredMemory(std::shared_ptr<memory::Budget> budget, std::uint64_t program_bytes)
    : budget_(std::move(budget)),
      program_at_start_(program_bytes),
      heap_at_start_(memory::probe_heap().taken_bytes) {}

std::expected<void, Refusal> MeasuredMemory::update() {
  const std::scoped_lock lock(mutex_);
  // Both are tried: a plan that does not fit needs to know all that is missing.
  auto heap = claim_heap();
  auto program = claim_program();
  const auto missing = [](std::uint64_t wanted, std::uint64_t held) {
    return wanted - std::min(wanted, held);
  };
  const std::uint64_t taken = memory::probe_heap().taken_bytes;
  const std::uint64_t heap_wanted =
      taken - std::min(taken, heap_at_start_) + memory::HeapEntry::default_margin_bytes;
  unclaimed_bytes_ = (heap ? 0 : missing(heap_wanted, heap_ ? heap_->bytes() : 0)) +
                     (program ? 0 : missing(program_wanted(), program_.bytes()));
  return heap ? program : heap;
}

std::uint64_t MeasuredMemory::unclaimed_bytes() const {
  const std::scoped_lock lock(mutex_);
  return unclaimed_bytes_;
}

std::expected<void, Refusal> MeasuredMemory::claim_heap() {
  if (!heap_) {
    auto entry =
        memory::HeapEntry::open(*budget_, memory::HeapEntry::default_margin_bytes, heap_at_start_);
    if (!entry) return std::unexpected(std::move(entry.error()));
    heap_.emplace(std::move(*entry));
  }
  return heap_->update();
}

std::uint64_t MeasuredMemory::program_wanted() const {
  const std::uint64_t resident = memory::probe_process().resident_file_bytes;
  const std::uint64_t grown = resident - std::min(resident, program_at_start_);
  return std::max(grown, program_.bytes());
}

std::expected<void, Refusal> MeasuredMemory::claim_program() {
  return hold(program_, program_wanted(), *budget_, "program pages");
}

UnreservedGrowth::UnreservedGrowth()
    : heap_before_(memory::probe_heap().used_bytes),
      program_before_(memory::probe_process().resident_file_bytes) {}

std::uint64_t UnreservedGrowth::heap_bytes() const {
  const std::uint64_t heap = memory::probe_heap().used_bytes;
  return heap - std::min(heap, heap_before_);
}

std::uint64_t UnreservedGrowth::program_bytes() const {
  const std::uint64_t program = memory::probe_process().resident_file_bytes;
  return program - std::min(program, program_before_);
}

std::expected<void, Refusal> UnreservedShare::claim(memory::Budget& budget) {
  return hold(reservation_, plan_bytes_ + load_bytes_, budget, "heap and program pages");
}

}  // namespace plimsoll
