// Probes of this process and machine; the backstop and the heap, each in a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstring>

#include "child.h"
#include "memory/backstop.h"
#include "memory/block.h"
#include "memory/heap.h"
#include "memory/probe.h"
#include "support/new_failure.h"

namespace plimsoll::memory::test {
namespace {

using ::testing::HasSubstr;

#ifdef PLIMSOLL_SANITIZED
#define SKIP_IF_SANITIZED() GTEST_SKIP() << "a sanitizer's own memory and malloc are not ours"
#else
#define SKIP_IF_SANITIZED() static_cast<void>(0)
#endif

TEST(Probe, TellsOfThisProcess) {
  const ProcessMemory memory = probe_process();
  EXPECT_GT(memory.resident_bytes, 1U << 20);
  EXPECT_GE(memory.peak_resident_bytes + (1U << 20), memory.resident_bytes);
  EXPECT_GT(memory.resident_anonymous_bytes, 0U);
  EXPECT_GT(memory.resident_file_bytes, 0U);
  EXPECT_GT(memory.data_virtual_bytes, 0U);
  EXPECT_GE(memory.threads, 1U);
  const auto same = probe_process(static_cast<int>(getpid()));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->threads, memory.threads);
}

TEST(Probe, OfAProcessThatIsGoneIsNothing) {
  EXPECT_FALSE(probe_process(-1));
  EXPECT_FALSE(probe_process(0x7FFFFFFF));
}

TEST(Probe, AllocatesNothing) {
  const plimsoll::test::NewFailure failure(1);
  EXPECT_GT(probe_process().resident_bytes, 0U);
  EXPECT_GT(probe_machine().total_bytes, 0U);
  EXPECT_TRUE(probe_mappings());
  EXPECT_FALSE(failure.has_fired());
}

TEST(Probe, MachineAndGroupGiveADefaultLimit) {
  const MachineMemory machine = probe_machine();
  EXPECT_GT(machine.total_bytes, 64U << 20);
  EXPECT_GT(machine.available_bytes, 0U);
  EXPECT_LE(machine.available_bytes, machine.total_bytes);
  const CgroupMemory cgroup = probe_cgroup();
  if (cgroup.limit_bytes) {
    EXPECT_NE(cgroup.version, 0);
  }
  EXPECT_LT(default_limit(cgroup, machine).bytes, machine.total_bytes);
}

TEST(Backstop, LeavesTheRoomOfTheLimitAndSlack) {
  ProcessMemory now;
  now.resident_bytes = 6 << 20;
  now.data_virtual_bytes = 3 << 20;
  EXPECT_EQ(backstop_data_limit(60 << 20, now, 0), (57U << 20) + backstop_slack_bytes);
  EXPECT_EQ(backstop_data_limit(60 << 20, now, 1 << 20), (58U << 20) + backstop_slack_bytes);
  // A limit below what is resident already leaves the slack only.
  EXPECT_EQ(backstop_data_limit(1 << 20, now, 0), (3U << 20) + backstop_slack_bytes);
  EXPECT_EQ(backstop_data_limit(UINT64_MAX, now, UINT64_MAX), UINT64_MAX);
}

TEST(Backstop, IsNotSetUnderASanitizer) {
#ifndef PLIMSOLL_SANITIZED
  GTEST_SKIP() << "this is no sanitizer build";
#endif
  EXPECT_FALSE(install_backstop(64 << 20, 0));
}

TEST(BackstopInAProcess, RefusesWhatTheLedgerDidNotSee) {
  SKIP_IF_SANITIZED();
  const std::string limit = std::to_string(40 * mebibyte);
  const Outcome within = run_probe("backstop " + limit + " 30");
  EXPECT_EQ(within.exit_code, 0) << within.text;
  EXPECT_THAT(within.text, HasSubstr("granted"));
  ASSERT_FALSE(within.numbers().empty());
  EXPECT_GT(within.numbers()[0], 30 * mebibyte);
  EXPECT_LT(within.numbers()[0], 45 * mebibyte);
  const Outcome beyond = run_probe("backstop " + limit + " 50");
  EXPECT_EQ(beyond.exit_code, 6);
  EXPECT_THAT(beyond.text, HasSubstr("a block needs 50.0 MiB"));
  EXPECT_THAT(beyond.text, HasSubstr("the kernel refused to map it"));
}

TEST(BackstopInAProcess, AnExhaustedHeapSaysWhoAskedLast) {
  SKIP_IF_SANITIZED();
  const std::string limit = std::to_string(40 * mebibyte);
  EXPECT_EQ(run_probe("exhaust " + limit + " 20").exit_code, 0);
  const Outcome beyond = run_probe("exhaust " + limit + " 60");
  EXPECT_EQ(beyond.exit_code, 6);
  EXPECT_THAT(beyond.text, HasSubstr("the last reservation was 3.0 MiB for activations of 'a "
                                     "model', with 0 bytes of 40.0 MiB reserved before it"));
}

TEST(BackstopInAProcess, KeepsAStricterLimitFromOutside) {
  SKIP_IF_SANITIZED();
  const Outcome outcome = run_probe("ulimit " + std::to_string(20 * mebibyte) + " 30");
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(outcome.text, "0 0 ");  // no limit of ours; the refused block's reservation was undone
}

TEST(HeapInAProcess, IsMeasuredAndGivenBack) {
  SKIP_IF_SANITIZED();
  const auto figures = run_probe("heap 32").numbers();
  ASSERT_EQ(figures.size(), 4U);
  const auto [before, full, entry, after] =
      std::tuple(figures[0], figures[1], figures[2], figures[3]);
  EXPECT_GT(full - before, 32 * mebibyte);
  EXPECT_GE(entry, full - before);
  EXPECT_LE(entry, full - before + 2 * mebibyte);
  EXPECT_LT(after - before, mebibyte);
}

TEST(HeapEntry, FollowsTheHeapUnderTheBudget) {
  SKIP_IF_SANITIZED();
  const auto root = Budget::root("process", 8 << 20);
  auto entry = HeapEntry::open(*root, 100'000);
  ASSERT_TRUE(entry);
  EXPECT_EQ(root->used(), 100'000U);
  {
    const std::vector<char> large(4 << 20, 1);
    ASSERT_TRUE(entry->update());
    EXPECT_GE(root->used(), (4U << 20) + 100'000);
    const std::vector<char> larger(8 << 20, 1);
    const auto refused = entry->update();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().purpose, "heap");
  }
  ASSERT_TRUE(entry->update());
  EXPECT_LT(root->used(), 4U << 20);
  EXPECT_FALSE(HeapEntry::open(*root, 9 << 20));
}

}  // namespace
}  // namespace plimsoll::memory::test
