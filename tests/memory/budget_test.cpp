// The ledger: claims, refusals at every level, and what survives a failure.
#include "memory/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "memory/timeline.h"
#include "plimsoll/error.h"
#include "support/new_failure.h"

namespace plimsoll::memory::test {
namespace {

using ::testing::HasSubstr;

TEST(Budget, AClaimCountsInEveryAncestorUntilItEnds) {
  const auto root = Budget::root("process", 1000);
  const auto session = root->child("session", 500);
  const auto window = session->child("window");
  {
    const auto claim = window->reserve(300, "window");
    ASSERT_TRUE(claim);
    EXPECT_EQ(claim->bytes(), 300U);
    EXPECT_EQ(window->used(), 300U);
    EXPECT_EQ(session->used(), 300U);
    EXPECT_EQ(root->used(), 300U);
    EXPECT_EQ(window->available(), 200U);
    EXPECT_EQ(root->available(), 700U);
  }
  EXPECT_EQ(root->used(), 0U);
  EXPECT_EQ(root->peak_used(), 300U);
  EXPECT_EQ(window->peak_used(), 300U);
  EXPECT_EQ(window->path(), "process/session/window");
}

TEST(Budget, TheLevelThatIsFullRefusesAndSaysSo) {
  const auto root = Budget::root("process", 1000);
  const auto session = root->child("session", 500);
  const auto window = session->child("window", 100);
  const auto refused_by = [&](std::uint64_t bytes) {
    auto claim = window->reserve(bytes, "window of 'm'");
    return claim ? std::string() : claim.error().budget;
  };
  EXPECT_EQ(refused_by(101), "process/session/window");
  const auto other = session->reserve(450, "activations");
  ASSERT_TRUE(other);
  EXPECT_EQ(refused_by(60), "process/session");
  const auto weights = root->reserve(540, "weights");
  ASSERT_TRUE(weights);
  EXPECT_EQ(refused_by(40), "process");
  EXPECT_EQ(refused_by(10), "");

  const auto claim = window->reserve(40, "window of 'm'");
  ASSERT_FALSE(claim);
  EXPECT_EQ(claim.error().requested_bytes, 40U);
  EXPECT_EQ(claim.error().available_bytes, 10U);
  EXPECT_EQ(claim.error().purpose, "window of 'm'");
  EXPECT_FALSE(claim.error().by_kernel);
  EXPECT_THAT(claim.error().to_string(), HasSubstr("window of 'm' needs 40 bytes"));
  EXPECT_THAT(claim.error().to_string(), HasSubstr("'process' has 10 bytes left"));
}

TEST(Budget, NumbersAtTheEdgeDoNotWrap) {
  const auto root = Budget::root("process", Budget::unlimited);
  const auto most = root->reserve(UINT64_MAX - 5, "most");
  ASSERT_TRUE(most);
  EXPECT_FALSE(root->reserve(6, "more"));
  EXPECT_FALSE(root->reserve(UINT64_MAX, "all"));
  EXPECT_TRUE(root->reserve(5, "the rest"));
  EXPECT_TRUE(root->reserve(0, "nothing"));
  const auto child = Budget::root("process", 100)->child("child", 1000);
  EXPECT_FALSE(child->reserve(101, "above the parent"));
}

TEST(Budget, AReservationGrowsShrinksAndMoves) {
  const auto root = Budget::root("process", 100);
  auto claim = root->reserve(40, "buffer");
  ASSERT_TRUE(claim);
  EXPECT_TRUE(claim->resize(90));
  EXPECT_EQ(root->used(), 90U);
  EXPECT_FALSE(claim->resize(101));
  EXPECT_EQ(claim->bytes(), 90U);
  EXPECT_TRUE(claim->resize(10));
  EXPECT_EQ(root->used(), 10U);

  Reservation moved = std::move(*claim);
  EXPECT_EQ(claim->bytes(), 0U);  // NOLINT: a moved-from reservation is empty
  auto other = root->reserve(50, "other");
  ASSERT_TRUE(other);
  moved = std::move(*other);
  EXPECT_EQ(root->used(), 50U);
  moved.release();
  moved.release();
  EXPECT_EQ(root->used(), 0U);
  EXPECT_THROW(static_cast<void>(moved.resize(1)), Error);
}

TEST(Budget, OutlivesItsTree) {
  Reservation claim;
  {
    const auto root = Budget::root("process", 100);
    auto granted = root->child("session")->reserve(10, "buffer");
    ASSERT_TRUE(granted);
    claim = std::move(*granted);
  }
  EXPECT_TRUE(claim.resize(100));
  EXPECT_FALSE(claim.resize(101));
}

TEST(Budget, TheNthReservationIsRefusedOnce) {
  const auto root = Budget::root("process", 100);
  const auto child = root->child("session");
  root->refuse_nth_reservation(3);
  auto first = child->reserve(1, "first");
  EXPECT_TRUE(first);
  EXPECT_TRUE(first->resize(2));
  const auto third = root->reserve(1, "third");
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().available_bytes, 0U);
  EXPECT_TRUE(root->reserve(1, "fourth"));
  EXPECT_EQ(root->used(), 2U);
}

TEST(Budget, TellsWhoAskedLast) {
  const auto root = Budget::root("process", 100);
  EXPECT_STREQ(root->last_claim().purpose.data(), "");
  const auto first = root->child("session")->reserve(30, "activations of 'm'");
  EXPECT_FALSE(root->reserve(99, std::string(500, 'x')));
  const LastClaim last = root->last_claim();
  EXPECT_EQ(std::string(last.purpose.data()), std::string(last.purpose.size() - 1, 'x'));
  EXPECT_EQ(last.bytes, 99U);
  EXPECT_EQ(last.root_used_bytes, 30U);
  EXPECT_EQ(last.root_limit_bytes, 100U);
}

TEST(Budget, EightThreadsNeverExceedAnyLimit) {
  const auto root = Budget::root("process", 5000, std::make_shared<Timeline>());
  const std::vector<std::shared_ptr<Budget>> sessions{
      root->child("one", 3000), root->child("two", 3000), root->child("three")};
  std::atomic<std::uint64_t> granted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<bool> exceeded{false};
  // What all threads hold, counted apart from the ledger: after a grant, before giving back.
  std::atomic<std::uint64_t> held{0};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Reservation> mine;
    for (int step = 0; step < 2000; ++step) {
      auto& budget = *sessions[random() % sessions.size()];
      if (random() % 3 != 0) {
        const std::uint64_t bytes = random() % 700;
        if (auto claim = budget.reserve(bytes, "buffer")) {
          held += bytes;
          if (held > 5000) exceeded = true;
          mine.push_back(std::move(*claim));
          ++granted;
        } else {
          ++refused;
        }
      } else if (!mine.empty()) {
        held -= mine.back().bytes();
        mine.pop_back();
      }
      if (root->used() > 5000 || sessions[0]->used() > 3000) exceeded = true;
      root->sample();
    }
    for (const Reservation& claim : mine) held -= claim.bytes();
  };
  std::vector<std::thread> threads;
  for (unsigned index = 0; index < 8; ++index) threads.emplace_back(work, index);
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(exceeded);
  EXPECT_GT(granted, 100U);
  EXPECT_GT(refused, 100U);
  EXPECT_EQ(root->used(), 0U);
  EXPECT_EQ(sessions[0]->used(), 0U);
  EXPECT_LE(root->peak_used(), 5000U);
  EXPECT_GT(root->peak_used(), 4000U);
}

TEST(Budget, NothingIsLostWhereAnAllocationFails) {
  // Long names, so that every string is an allocation.
  const std::string name(60, 'n');
  const auto failures = plimsoll::test::for_each_failed_new([&] {
    std::shared_ptr<Budget> root;
    std::shared_ptr<Budget> child;
    try {
      root = Budget::root(name, 100, std::make_shared<Timeline>());
      child = root->child(name);
      const auto handle = child->register_rebuildable([](std::uint64_t) { return 0; });
      const auto claim = child->reserve(60, name);
      const auto refused = root->reserve(60, name);
      ASSERT_TRUE(claim);
      ASSERT_FALSE(refused);
      ASSERT_EQ(root->used(), 60U);
    } catch (...) {
      if (root != nullptr && root->used() != 0) ADD_FAILURE() << "a claim was lost";
      throw;
    }
    ASSERT_EQ(root->used(), 0U);
  });
  EXPECT_GT(failures.failed, 10U);
  EXPECT_GT(failures.caught, 5U);
  EXPECT_EQ(failures.leaked, 0U);
}

}  // namespace
}  // namespace plimsoll::memory::test
