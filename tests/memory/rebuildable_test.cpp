// Holders of rebuildable memory: who is asked, when, and what happens when threads cross.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "memory/budget.h"

namespace plimsoll::memory::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A cache that holds one reservation and gives it back when asked.
struct Cache {
  Cache(const std::shared_ptr<Budget>& budget, std::uint64_t bytes, std::vector<std::string>& log,
        std::string cache_name)
      : name(std::move(cache_name)), asked(log) {
    auto claim = budget->reserve(bytes, "cache");
    if (claim) held = std::move(*claim);
    handle = budget->register_rebuildable([this](std::uint64_t wanted) {
      asked.push_back(name + " " + std::to_string(wanted));
      const std::uint64_t freed = held.bytes();
      held.release();
      return freed;
    });
  }
  std::string name;
  std::vector<std::string>& asked;
  Reservation held;
  std::shared_ptr<void> handle;
};

TEST(Rebuildable, TheOldestIsAskedFirstAndNoMoreThanNeeded) {
  const auto root = Budget::root("process", 100);
  std::vector<std::string> asked;
  const Cache first(root, 20, asked, "first");
  const Cache second(root, 20, asked, "second");
  const Cache third(root, 20, asked, "third");
  const auto claim = root->reserve(70, "weights");
  ASSERT_TRUE(claim);
  EXPECT_THAT(asked, ElementsAre("first 30", "second 10"));
  EXPECT_EQ(root->used(), 90U);
}

TEST(Rebuildable, WhatFitsOrNeverFitsAsksNobody) {
  const auto root = Budget::root("process", 100);
  std::vector<std::string> asked;
  const Cache cache(root, 50, asked, "cache");
  EXPECT_TRUE(root->reserve(50, "fits"));
  EXPECT_FALSE(root->reserve(101, "never fits"));
  const auto small = root->child("small", 10);
  EXPECT_FALSE(small->reserve(11, "never fits here"));
  EXPECT_THAT(asked, IsEmpty());
}

TEST(Rebuildable, OnlyHoldersBelowTheFullBudgetAreAsked) {
  const auto root = Budget::root("process", 1000);
  const auto full = root->child("full", 100);
  const auto other = root->child("other", 100);
  std::vector<std::string> asked;
  const Cache elsewhere(other, 50, asked, "elsewhere");
  const auto deep = full->child("deep");
  const Cache below(deep, 50, asked, "below");
  const auto claim = full->reserve(80, "activations");
  ASSERT_TRUE(claim);
  EXPECT_THAT(asked, ElementsAre("below 30"));
}

TEST(Rebuildable, EveryFullLevelIsServed) {
  const auto root = Budget::root("process", 100);
  const auto session = root->child("session", 60);
  std::vector<std::string> asked;
  const Cache global(root, 50, asked, "global");
  const Cache local(session, 40, asked, "local");
  const auto claim = session->reserve(55, "activations");
  ASSERT_TRUE(claim);
  EXPECT_THAT(asked, ElementsAre("local 35", "global 5"));
}

TEST(Rebuildable, IsRefusedWhenAllHaveBeenAskedOnce) {
  const auto root = Budget::root("process", 100);
  int calls = 0;
  const auto stubborn = root->register_rebuildable([&](std::uint64_t) {
    ++calls;
    return std::uint64_t{1000};  // says so, and frees nothing
  });
  const auto base = root->reserve(90, "base");
  const auto claim = root->reserve(20, "weights");
  ASSERT_FALSE(claim);
  EXPECT_EQ(claim.error().available_bytes, 10U);
  EXPECT_EQ(calls, 1);
}

TEST(Rebuildable, TheRegistrationEndsWithItsHandle) {
  const auto root = Budget::root("process", 100);
  int calls = 0;
  auto handle = root->register_rebuildable([&](std::uint64_t) {
    ++calls;
    return std::uint64_t{0};
  });
  const auto base = root->reserve(90, "base");
  handle.reset();
  EXPECT_FALSE(root->reserve(20, "weights"));
  EXPECT_EQ(calls, 0);
}

TEST(Rebuildable, AHolderMayReserveAndDropItselfWhileAsked) {
  const auto root = Budget::root("process", 100);
  std::shared_ptr<void> handle;
  Reservation held = std::move(*root->reserve(60, "cache"));
  bool inner_granted = true;
  handle = root->register_rebuildable([&](std::uint64_t) {
    inner_granted = root->reserve(60, "more").has_value();  // asks nobody: it would ask itself
    held.release();
    handle.reset();
    return std::uint64_t{60};
  });
  EXPECT_TRUE(root->reserve(80, "weights"));
  EXPECT_FALSE(inner_granted);
  EXPECT_EQ(handle, nullptr);
}

TEST(Rebuildable, ManyThreadsEvictAndRegisterAtOnce) {
  const auto root = Budget::root("process", 1000);
  std::atomic<std::uint64_t> granted{0};
  std::atomic<int> wrong{0};
  const auto work = [&] {
    for (int round = 0; round < 300; ++round) {
      // Held under a lock of its own, as a real cache does: any thread may ask for it.
      std::mutex mutex;
      Reservation held;
      if (auto claim = root->reserve(200, "cache")) held = std::move(*claim);
      bool alive = true;
      {
        const auto handle = root->register_rebuildable([&](std::uint64_t) {
          if (!alive) ++wrong;  // called after the handle was gone
          const std::scoped_lock lock(mutex);
          const std::uint64_t freed = held.bytes();
          held.release();
          return freed;
        });
        if (root->reserve(300, "work")) ++granted;
      }
      alive = false;
    }
  };
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(granted, 300U);
  EXPECT_EQ(root->used(), 0U);
  EXPECT_LE(root->peak_used(), 1000U);
}

}  // namespace
}  // namespace plimsoll::memory::test
