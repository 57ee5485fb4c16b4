#include "tensor/kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

namespace plimsoll::tensor::kernels {
namespace {

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

/// Every index is visited once, no part is empty, and no two threads share a number at a time.
void check_cover(ThreadPool& pool, std::int64_t count, std::int64_t grain) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
  std::vector<std::atomic<int>> busy(ThreadPool::max_threads);
  std::atomic<int> faults{0};
  pool.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end, int thread) {
    if (thread < 0 || thread >= pool.threads() || begin >= end || begin < 0 || end > count ||
        busy[static_cast<std::size_t>(thread)].fetch_add(1) != 0) {
      ++faults;
      return;
    }
    if (end != count && (end - begin) % std::max<std::int64_t>(grain, 1) != 0) ++faults;
    for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    --busy[static_cast<std::size_t>(thread)];
  });
  EXPECT_EQ(faults.load(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(visits[static_cast<std::size_t>(i)].load(), 1) << i << " of " << count;
  }
}

TEST(ThreadPool, CoversEveryIndexOnce) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    for (std::int64_t count : {0, 1, 2, 5, 16, 17, 1000}) {
      for (std::int64_t grain : {0, 1, 3, 16, 2000}) check_cover(pool, count, grain);
    }
  }
}

TEST(ThreadPool, ClampsTheNumberOfThreads) {
  EXPECT_EQ(ThreadPool(0).threads(), 1);
  EXPECT_EQ(ThreadPool(1000).threads(), ThreadPool::max_threads);
}

TEST(ThreadPool, LoopsInTurnSeeEachOthersResults) {
  ThreadPool pool(3);
  std::vector<std::int64_t> values(300, 0);
  for (int round = 0; round < 2000; ++round) {
    pool.parallel_for(300, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        // The element that another thread may have written in the loop before.
        if (round % 2 == 0) {
          ++values[static_cast<std::size_t>(i)];
        } else {
          ++values[static_cast<std::size_t>(299 - i)];
        }
      }
    });
  }
  for (std::int64_t value : values) EXPECT_EQ(value, 2000);
}

TEST(ThreadPool, WakesThreadsThatSleep) {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    // Two parts that each wait for the other: only two threads can end this.
    std::atomic<int> inside{0};
    pool.parallel_for(2, 1, [&](std::int64_t, std::int64_t, int) {
      ++inside;
      while (inside.load() < 2) std::this_thread::yield();
    });
    EXPECT_EQ(inside.load(), 2);
  }
}

TEST(ThreadPool, StartsThreadsWhenTheyAreOfUse) {
  const std::ptrdiff_t before = threads_of_process();
  auto pool = std::make_unique<ThreadPool>(4);
  pool->parallel_for(1, 1, [](std::int64_t, std::int64_t, int) {});
  pool->parallel_for(100, 100, [](std::int64_t, std::int64_t, int) {});
  EXPECT_EQ(threads_of_process(), before);
  pool->parallel_for(2, 1, [](std::int64_t, std::int64_t, int) {});
  EXPECT_EQ(threads_of_process(), before + 3);
  pool.reset();
  EXPECT_EQ(threads_of_process(), before);
}

TEST(ThreadPool, IdleThreadsTakeNoTime) {
  ThreadPool pool(4);
  pool.parallel_for(100, 1, [](std::int64_t, std::int64_t, int) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto processor_time = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double before = processor_time();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  // Three spinning threads would take 600 ms; a sanitizer's own thread may take a little.
  EXPECT_LT(processor_time() - before, 0.05);
}

}  // namespace
}  // namespace plimsoll::tensor::kernels
