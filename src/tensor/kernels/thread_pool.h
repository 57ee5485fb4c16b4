// Threads for kernels. Why it exists: 1 to 64 threads with explicit stack sizes (reserved in the
// budget), whose idle threads cost nothing but their stack's touched pages. May touch: pthreads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace plimsoll::tensor::kernels {

/// A non-owning reference to a callable; valid during the call it is passed to.
class RangeBody {
 public:
  template <typename F>
  RangeBody(const F& f)  // NOLINT: converts on purpose, like a function reference
      : object_(&f),
        call_([](const void* object, std::int64_t begin, std::int64_t end, int thread) {
          (*static_cast<const F*>(object))(begin, end, thread);
        }) {}
  void operator()(std::int64_t begin, std::int64_t end, int thread) const {
    call_(object_, begin, end, thread);
  }

 private:
  const void* object_;
  void (*call_)(const void*, std::int64_t, std::int64_t, int);
};

/// Runs loops in parallel. One loop at a time per pool; a pool belongs to one session. The calling
/// thread takes part as thread 0. Which thread runs which part never affects results.
class ThreadPool {
 public:
  static constexpr int max_threads = 64;
  /// Stack of each worker, explicit so that it can be reserved: see memory::Budget.
  static constexpr std::uint64_t stack_bytes = 256 * 1024;

  /// For up to `threads` threads. The workers start with the first loop that can use them. Where
  /// the system refuses some, loops run on those that there are: results are the same.
  explicit ThreadPool(int threads = 1);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Calls body(begin, end, thread) over disjoint parts that cover [0, count), each of at least
  /// `grain` items but the last; returns when all are done. body must not throw. `thread` is below
  /// threads() and no two concurrent calls have the same one.
  void parallel_for(std::int64_t count, std::int64_t grain, RangeBody body);

 private:
  struct State;
  int threads_;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::tensor::kernels
