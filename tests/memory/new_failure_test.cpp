// The tool that makes allocations fail, tested on what allocates, leaks and swallows.
#include "support/new_failure.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace plimsoll::test {
namespace {

struct alignas(256) Wide {
  char bytes[256];  // NOLINT: raw bytes are what is wanted
};

TEST(NewFailure, TheNthFailsAndNoOther) {
  int made = 0;
  {
    const NewFailure failure(3);
    std::vector<std::unique_ptr<int>> kept;
    kept.reserve(8);  // the first
    for (int index = 0; index < 4; ++index) {
      try {
        kept.push_back(std::make_unique<int>(index));
        ++made;
      } catch (const std::bad_alloc&) {
        continue;
      }
    }
    EXPECT_TRUE(failure.has_fired());
  }
  EXPECT_EQ(made, 3);
}

TEST(NewFailure, EveryFormOfNewIsCounted) {
  const std::int64_t before = live_allocations();
  const auto one = std::make_unique<int>(1);
  const auto many = std::make_unique<int[]>(9);  // NOLINT
  const auto wide = std::make_unique<Wide>();
  const auto wides = std::make_unique<Wide[]>(3);  // NOLINT
  EXPECT_EQ(live_allocations() - before, 4);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.get()) % 256, 0U);
  const NewFailure failure(1);
  EXPECT_EQ(new (std::nothrow) int, nullptr);  // NOLINT
  EXPECT_TRUE(failure.has_fired());
}

TEST(NewFailure, OtherThreadsAreLeftAlone) {
  std::atomic<bool> armed{false};
  std::string made_there;
  std::thread other([&] {
    while (!armed) std::this_thread::yield();
    made_there.assign(1000, 'x');
  });
  bool fired = false;
  {
    const NewFailure failure(1);  // after the thread's start, which allocates here
    armed = true;
    other.join();
    fired = failure.has_fired();
  }
  EXPECT_FALSE(fired);
  EXPECT_EQ(made_there.size(), 1000U);
}

TEST(ForEachFailedNew, GoesThroughAllOfThem) {
  const NewFailures failures = for_each_failed_new([] {
    const std::string first(100, 'a');
    const std::string second(200, 'b');
    const std::vector<int> third(50);
    ASSERT_EQ(first.size() + second.size() + third.size(), 350U);
  });
  EXPECT_EQ(failures.failed, 3U);
  EXPECT_EQ(failures.caught, 3U);
  EXPECT_EQ(failures.leaked, 0U);
}

TEST(ForEachFailedNew, SeesALeak) {
  std::vector<int*> lost;
  lost.reserve(100);
  const NewFailures failures = for_each_failed_new([&] {
    lost.push_back(new int(1));  // NOLINT: lost on purpose when the next fails
    const std::string text(100, 'a');
    delete lost.back();  // NOLINT
    lost.pop_back();
  });
  EXPECT_EQ(failures.failed, 2U);
  EXPECT_EQ(failures.leaked, 1U);
  for (const int* leaked : lost) delete leaked;  // NOLINT
}

TEST(ForEachFailedNew, CountsWhatIsSwallowed) {
  const NewFailures failures = for_each_failed_new([] {
    try {
      const std::string text(100, 'a');
    } catch (const std::bad_alloc&) {
      return;
    }
  });
  EXPECT_EQ(failures.failed, 1U);
  EXPECT_EQ(failures.caught, 0U);
}

}  // namespace
}  // namespace plimsoll::test
