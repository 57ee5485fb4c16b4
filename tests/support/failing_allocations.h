// Makes the n-th operator new of a thread fail. Why it exists: running out of memory must leave
// nothing behind, wherever it strikes. May touch: the global operator new of the test program,
// which linking this replaces.
#pragma once

#include <cstdint>

namespace plimsoll::tensor::test {

/// While one lives, the allocation number `number` (from 1) of this thread, and every later one,
/// throws std::bad_alloc.
class FailingAllocations {
 public:
  explicit FailingAllocations(std::int64_t number);
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  ~FailingAllocations();
  /// Whether an allocation has failed: if not, the action needs fewer than `number`.
  [[nodiscard]] bool failed() const;
};

/// Blocks that this thread has allocated and nobody has freed; only differences mean something.
[[nodiscard]] std::int64_t live_allocations();

}  // namespace plimsoll::tensor::test
