// Makes the n-th allocation fail. Why it exists: every place that allocates must survive
// std::bad_alloc without a leak, and only a test that fails each of them in turn can show it.
// Link plimsoll_new_failure: it replaces operator new and delete of the whole test program, by
// malloc and free, so that it works under the sanitizers too.
//
//   const auto failures = for_each_failed_new([&] { import_onnx(path); });
#pragma once

#include <cstdint>
#include <functional>

namespace plimsoll::test {

/// While it lives, the n-th (1-based) operator new of this thread fails, and all those after it
/// succeed. Other threads are not touched. Not nested.
class NewFailure {
 public:
  explicit NewFailure(std::uint64_t nth) noexcept;
  NewFailure(const NewFailure&) = delete;
  NewFailure& operator=(const NewFailure&) = delete;
  ~NewFailure();

  /// Whether the n-th allocation was reached.
  [[nodiscard]] bool has_fired() const noexcept;
  /// Ends it early, so that the test may allocate while it lives.
  void disarm() noexcept;
};

/// Blocks of operator new that are alive in the whole program.
[[nodiscard]] std::int64_t live_allocations() noexcept;

/// What for_each_failed_new saw.
struct NewFailures {
  std::uint64_t failed = 0;  ///< allocations that were made to fail
  std::uint64_t caught = 0;  ///< of those: left the body as std::bad_alloc or another exception
  std::uint64_t leaked = 0;  ///< runs after which more blocks were alive than before
};

/// Runs `body` with its first allocation failing, then its second, and so on until a run gets
/// through without reaching the failure. `body` runs twice unharmed first, so that what is made
/// once and kept (caches, tables) does not count as leaked. Exceptions that leave it are caught.
/// Failures that `body` swallows count as failed only. Stops after `most` runs, with `failed` equal
/// to it.
[[nodiscard]] NewFailures for_each_failed_new(const std::function<void()>& body,
                                              std::uint64_t most = 100'000);

}  // namespace plimsoll::test
