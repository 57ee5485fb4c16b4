// The timeline: what it keeps, what it merges, and the kernel's peak per phase.
#include "memory/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "memory/block.h"
#include "memory/budget.h"
#include "memory/probe.h"
#include "support/new_failure.h"

namespace plimsoll::memory::test {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

TEST(PurposeKind, IsWhatStandsBeforeTheName) {
  EXPECT_EQ(purpose_kind("weight 'conv1.w'"), "weight");
  EXPECT_EQ(purpose_kind("activations of 'a model'"), "activations");
  EXPECT_EQ(purpose_kind("buffer for 'x'"), "buffer");
  EXPECT_EQ(purpose_kind("thread stacks"), "thread stacks");
  EXPECT_EQ(purpose_kind("proof of"), "proof of");  // no name follows
  EXPECT_EQ(purpose_kind("'x'"), "'x'");
  EXPECT_EQ(purpose_kind(" of 'x'"), " of 'x'");
  EXPECT_EQ(purpose_kind(""), "");
}

TEST(Timeline, KeepsWhoReservedWhatWhen) {
  const auto timeline = std::make_shared<Timeline>();
  const auto root = Budget::root("process", 1000, timeline);
  timeline->begin_phase("encode");
  {
    const auto claim = root->child("weights")->reserve(300, "weight 'w'");
    const auto window = root->reserve(50, "window");
  }
  const auto events = timeline->events();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].kind, Timeline::Kind::phase);
  EXPECT_EQ(events[0].budget, "encode");
  EXPECT_EQ(events[1].kind, Timeline::Kind::reserve);
  EXPECT_EQ(events[1].budget, "process/weights");
  EXPECT_EQ(events[1].purpose, "weight");
  EXPECT_EQ(events[1].delta_bytes, 300);
  EXPECT_EQ(events[2].ledger_bytes, 350U);
  EXPECT_EQ(events[3].kind, Timeline::Kind::release);
  EXPECT_EQ(events[3].delta_bytes, -50);
  EXPECT_EQ(events[4].ledger_bytes, 0U);
  for (std::size_t index = 1; index < events.size(); ++index) {
    EXPECT_GE(events[index].seconds, events[index - 1].seconds);
    EXPECT_GT(events[index].resident_bytes, 0U);
    EXPECT_GT(events[index].peak_bytes, 0U);
  }
}

TEST(Timeline, MergingKeepsPeaksAndSums) {
  Timeline timeline(256);
  timeline.begin_phase("run");
  std::uint64_t ledger = 0;
  for (int step = 0; step < 5000; ++step) {
    const bool spike = step == 777;
    const std::int64_t bytes = spike ? 1'000'000 : 100;
    timeline.record(Timeline::Kind::reserve, "process", "buffer", bytes, ledger + bytes, 1);
    timeline.record(Timeline::Kind::release, "process", "buffer", -bytes, ledger, -1);
    if (step % 2 == 0) {
      ledger += 1;
      timeline.record(Timeline::Kind::reserve, "process", "rest", 1, ledger, 1);
    }
  }
  const auto events = timeline.events();
  EXPECT_LE(events.size(), 256U);
  EXPECT_GT(events.size(), 100U);
  EXPECT_EQ(std::ranges::max(events, {}, &Timeline::Event::ledger_bytes).ledger_bytes, 1'000'389U);
  std::int64_t sum = 0;
  for (const auto& event : events) sum += event.delta_bytes;
  EXPECT_EQ(sum, 2500);
  EXPECT_TRUE(std::ranges::is_sorted(events, {}, &Timeline::Event::seconds));
  ASSERT_EQ(timeline.phases().size(), 1U);
  EXPECT_EQ(timeline.phases()[0].ledger_peak_bytes, 1'000'389U);
}

TEST(Timeline, ManyPhasesAreFoldedIntoOne) {
  Timeline timeline(256);
  for (int index = 0; index < 500; ++index) {
    timeline.begin_phase("run " + std::to_string(index));
    for (int step = 0; step < 20; ++step) timeline.sample_now();
  }
  EXPECT_LE(timeline.events().size(), 256U);
  const auto phases = timeline.phases();
  ASSERT_EQ(phases.size(), 64U);
  EXPECT_EQ(phases.front().name, "earlier");
  EXPECT_EQ(phases.back().name, "run 499");
  for (std::size_t index = 1; index < phases.size(); ++index) {
    EXPECT_DOUBLE_EQ(phases[index].begin_seconds, phases[index - 1].end_seconds);
  }
  std::size_t begun = 0;
  for (const auto& event : timeline.events()) begun += event.kind == Timeline::Kind::phase ? 1 : 0;
  EXPECT_EQ(begun, 64U);
}

TEST(Timeline, ManyNamesAreBounded) {
  Timeline timeline;
  timeline.begin_phase("run");
  for (int index = 0; index < 3000; ++index) {
    const std::string name = "purpose " + std::to_string(index);
    timeline.record(Timeline::Kind::reserve, "process", name, 10, 10 * (index + 1), 1);
  }
  timeline.begin_phase("after");
  const auto phases = timeline.phases();
  const auto& held = phases.back().held;
  EXPECT_LE(held.size(), 48U);
  EXPECT_EQ(held.front().purpose, "other");
  std::uint64_t sum = 0;
  for (const auto& holding : held) sum += holding.bytes;
  EXPECT_EQ(sum, 30'000U);
}

TEST(Timeline, SamplesAtMostOnceAMillisecond) {
  Timeline timeline;
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < 20'000; ++call) timeline.sample();
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count() + 2;
  EXPECT_LE(timeline.events().size(), static_cast<std::size_t>(milliseconds));
  timeline.sample_now();
  timeline.sample_now();
  EXPECT_GE(timeline.events().size(), 2U);
}

TEST(Timeline, APhaseThatRaisesThePeakHasIt) {
#ifdef PLIMSOLL_SANITIZED
  GTEST_SKIP() << "a sanitizer's own memory hides what is measured";
#endif
  const auto timeline = std::make_shared<Timeline>();
  const auto root = Budget::root("process", Budget::unlimited, timeline);
  timeline->begin_phase("small");
  timeline->begin_phase("large");
  // Above whatever this program's peak was before.
  const std::uint64_t bytes = probe_process().peak_resident_bytes + 20 * mebibyte;
  {
    auto block = Block::allocate(*root, bytes, "activations of 'm'");
    ASSERT_TRUE(block);
    std::memset(block->data(), 1, block->size());
  }
  timeline->begin_phase("small again");
  const auto phases = timeline->phases();
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_GE(phases[1].kernel_peak_bytes, bytes);
  EXPECT_GE(phases[1].kernel_peak_bytes + mebibyte, probe_process().peak_resident_bytes);
  EXPECT_LT(phases[0].kernel_peak_bytes, bytes);
  EXPECT_LT(phases[2].kernel_peak_bytes, bytes);  // sampled, since VmHWM did not rise
  EXPECT_GT(phases[2].kernel_peak_bytes, mebibyte);
  ASSERT_EQ(phases[1].held.size(), 1U);
  EXPECT_EQ(phases[1].held[0].purpose, "activations");
  EXPECT_GE(phases[1].held[0].bytes, bytes);
  EXPECT_EQ(phases[1].held[0].count, 1U);
  EXPECT_TRUE(phases[2].held.empty());
}

TEST(Timeline, AReservationThatGrowsIsOne) {
  const auto timeline = std::make_shared<Timeline>();
  const auto root = Budget::root("process", Budget::unlimited, timeline);
  timeline->begin_phase("run");
  auto heap = root->reserve(100, "heap");
  ASSERT_TRUE(heap);
  EXPECT_TRUE(heap->resize(500));
  EXPECT_TRUE(heap->resize(50));
  EXPECT_TRUE(heap->resize(80));
  timeline->begin_phase("after");
  const auto phases = timeline->phases();
  ASSERT_EQ(phases[1].held.size(), 1U);
  EXPECT_EQ(phases[1].held[0].bytes, 80U);
  EXPECT_EQ(phases[1].held[0].count, 1U);
}

TEST(Timeline, AFailedAllocationStopsNothing) {
  Timeline timeline;
  timeline.begin_phase("run");
  for (std::uint64_t nth = 1; nth < 5; ++nth) {
    const std::string name(40 + nth, 'n');
    const plimsoll::test::NewFailure failure(nth);
    timeline.record(Timeline::Kind::reserve, name, name, 10, 10, 1);
    timeline.record(Timeline::Kind::release, name, name, -10, 0, -1);
    timeline.begin_phase(name);
  }
  timeline.begin_phase("after");
  const auto phases = timeline.phases();
  EXPECT_TRUE(phases.back().held.empty());  // nothing wrapped
}

TEST(Timeline, ManyThreadsRecordAtOnce) {
  const auto timeline = std::make_shared<Timeline>(256);
  const auto root = Budget::root("process", Budget::unlimited, timeline);
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index) {
    threads.emplace_back([&, index] {
      for (int step = 0; step < 500; ++step) {
        const auto claim = root->reserve(100, "buffer");
        if (step % 100 == 0) timeline->begin_phase("phase " + std::to_string(index));
        if (step % 50 == 0) static_cast<void>(timeline->phases());
        root->sample();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(timeline->events().size(), 256U);
  EXPECT_EQ(root->used(), 0U);
  timeline->begin_phase("after");
  EXPECT_TRUE(timeline->phases().back().held.empty());
}

}  // namespace
}  // namespace plimsoll::memory::test
