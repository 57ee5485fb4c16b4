// Memory for machine code. Why it exists: no mapping is ever writable and executable. May touch:
// memory/budget.h, memfd, mmap.
//
//   a nameless file (memfd)
//     ├─ mapped read + execute   for as long as this object lives; this is where code runs
//     └─ mapped read + write     while bytes are copied in, a chunk at a time; gone before write()
//                                returns
//
// Why a second mapping: changing the protection of pages faults the threads that run there. Why a
// short one: both views of a page count in the kernel's figure. Pages are claimed from the budget
// when they are first allocated, and go back (claim and pages) when this object goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <span>

#include "memory/budget.h"
#include "plimsoll/refusal.h"

namespace plimsoll::code {

/// The code of one module: a range of address space that is filled from its beginning. All
/// functions are thread-safe.
class CodeMemory {
 public:
  /// Reserves address space only. A refused mmap is a Refusal with by_kernel set.
  [[nodiscard]] static std::expected<std::unique_ptr<CodeMemory>, Refusal> create(
      const std::shared_ptr<memory::Budget>& budget, std::uint64_t capacity_bytes);
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;
  ~CodeMemory();

  /// Copies code in behind what is there, aligned to 16 bytes, and returns where it will run.
  /// Refused when the budget or the capacity is exhausted: nothing has changed then.
  [[nodiscard]] std::expected<const std::byte*, Refusal> add(std::span<const std::byte> code);

  [[nodiscard]] const std::byte* begin() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint64_t used_bytes() const;

 private:
  CodeMemory(std::shared_ptr<memory::Budget> budget, int file, std::byte* base,
             std::uint64_t capacity) noexcept;
  [[nodiscard]] std::expected<void, Refusal> claim_to(std::uint64_t end);
  [[nodiscard]] std::expected<void, Refusal> write(std::uint64_t offset,
                                                   std::span<const std::byte> code) const;

  const std::shared_ptr<memory::Budget> budget_;
  const int file_;
  std::byte* const base_;
  const std::uint64_t capacity_;
  mutable std::mutex mutex_;
  std::uint64_t used_ = 0;     // under mutex_
  memory::Reservation claim_;  // under mutex_
};

}  // namespace plimsoll::code
