// The parsers of /proc's files, fed what kernels write and what they never should.
#include "memory/probe_text.h"

#include <gtest/gtest.h>

namespace plimsoll::memory::test {
namespace {

TEST(ProcessStatus, IsReadByName) {
  const auto memory = parse_process_status(
      "Name:\tVmRSS\nUmask:\t0022\nVmPeak:\t  999 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n"
      "RssAnon:\t     512 kB\nRssFile:\t     500 kB\nRssShmem:\t      12 kB\nVmData:\t    4096 kB\n"
      "Threads:\t3\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->peak_resident_bytes, 2048U * 1024);
  EXPECT_EQ(memory->resident_bytes, 1024U * 1024);
  EXPECT_EQ(memory->resident_anonymous_bytes, 512U * 1024);
  EXPECT_EQ(memory->resident_file_bytes, 500U * 1024);
  EXPECT_EQ(memory->resident_shared_bytes, 12U * 1024);
  EXPECT_EQ(memory->data_virtual_bytes, 4096U * 1024);
  EXPECT_EQ(memory->threads, 3U);
}

TEST(ProcessStatus, OfAKernelThreadOrNothingIsNothing) {
  EXPECT_FALSE(parse_process_status("Name:\tkswapd0\nThreads:\t1\n"));
  EXPECT_FALSE(parse_process_status(""));
  EXPECT_FALSE(parse_process_status("VmRSS:\t many kB\n"));
  EXPECT_FALSE(parse_process_status("VmRSS:"));
  EXPECT_FALSE(parse_process_status(std::string_view("\0VmRSS: 1 kB", 12)));
}

TEST(ProcessStatus, OddNumbersDoNotWrap) {
  const auto memory = parse_process_status(
      "VmRSS: 18446744073709551615 kB\nVmHWM: 99999999999999999999 kB\nRssAnon: -5 kB\nVmData: 7");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->resident_bytes, UINT64_MAX);
  EXPECT_EQ(memory->peak_resident_bytes, 0U);
  EXPECT_EQ(memory->resident_anonymous_bytes, 0U);
  EXPECT_EQ(memory->data_virtual_bytes, 7U * 1024);
}

TEST(SmapsRollup, IsSummedUp) {
  const auto memory = parse_smaps_rollup(
      "55d0c0a0a000-7ffd3b9fe000 ---p 00000000 00:00 0                          [rollup]\n"
      "Rss:                2000 kB\nPss:                1500 kB\nPss_Dirty:           300 kB\n"
      "Shared_Clean:        700 kB\nShared_Dirty:          1 kB\nPrivate_Clean:       100 kB\n"
      "Private_Dirty:      1200 kB\nAnonHugePages:      4096 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->pss_bytes, 1500U * 1024);
  EXPECT_EQ(memory->private_bytes, 1300U * 1024);
  EXPECT_EQ(memory->shared_bytes, 701U * 1024);
  EXPECT_EQ(memory->anonymous_huge_bytes, 4096U * 1024);
  EXPECT_FALSE(parse_smaps_rollup(""));
  const auto hostile = parse_smaps_rollup(
      "Pss: 1 kB\nPrivate_Clean: 18014398509481983 kB\nPrivate_Dirty: 18014398509481983 kB\n");
  ASSERT_TRUE(hostile);
  EXPECT_EQ(hostile->private_bytes, UINT64_MAX);
}

TEST(MachineText, MeminfoAndPressure) {
  MachineMemory machine = parse_meminfo(
      "MemTotal:       24683676 kB\nMemFree:        20000000 kB\nMemAvailable:   23000000 kB\n");
  EXPECT_EQ(machine.total_bytes, 24683676ULL * 1024);
  EXPECT_EQ(machine.available_bytes, 23000000ULL * 1024);
  parse_pressure(
      "some avg10=1.25 avg60=0.50 avg300=0.00 total=123\nfull avg10=0.75 avg60=0 avg300=0 "
      "total=1\n",
      machine);
  EXPECT_DOUBLE_EQ(machine.pressure_some_avg10.value(), 1.25);
  EXPECT_DOUBLE_EQ(machine.pressure_full_avg10.value(), 0.75);
}

TEST(MachineText, WithoutPressureThereIsNone) {
  MachineMemory machine = parse_meminfo("");
  EXPECT_EQ(machine.total_bytes, 0U);
  parse_pressure("", machine);
  EXPECT_FALSE(machine.pressure_some_avg10);
  parse_pressure("some total=3\nfull avg10=much\n", machine);
  EXPECT_FALSE(machine.pressure_some_avg10);
  EXPECT_FALSE(machine.pressure_full_avg10);
}

TEST(DefaultLimit, IsFourFifthsOfTheSmallerRoom) {
  const MachineMemory machine{.total_bytes = 16'000, .available_bytes = 10'000};
  EXPECT_EQ(default_limit({}, machine).bytes, 8'000U);
  EXPECT_STREQ(default_limit({}, machine).source, "available");

  CgroupMemory cgroup{.limit_bytes = 5'000, .used_bytes = 1'000, .version = 2};
  EXPECT_EQ(default_limit(cgroup, machine).bytes, 3'200U);
  EXPECT_STREQ(default_limit(cgroup, machine).source, "cgroup");
  cgroup.used_bytes.reset();
  EXPECT_EQ(default_limit(cgroup, machine).bytes, 4'000U);
  cgroup.limit_bytes = 50'000;
  EXPECT_EQ(default_limit(cgroup, machine).bytes, 8'000U);
  EXPECT_STREQ(default_limit(cgroup, machine).source, "available");
}

TEST(DefaultLimit, PageCacheIsNoUse) {
  const MachineMemory machine{.total_bytes = 16'000, .available_bytes = 10'000};
  CgroupMemory cgroup{
      .limit_bytes = 5'000, .used_bytes = 4'900, .reclaimable_bytes = 3'900, .version = 1};
  EXPECT_EQ(default_limit(cgroup, machine).bytes, 3'200U);
  cgroup.reclaimable_bytes = 6'000;  // read a moment later than the use
  EXPECT_EQ(default_limit(cgroup, machine).bytes, 4'000U);
}

TEST(DefaultLimit, AFullGroupLeavesNothing) {
  const MachineMemory machine{.total_bytes = 16'000, .available_bytes = 10'000};
  const CgroupMemory cgroup{.limit_bytes = 5'000, .used_bytes = 6'000, .version = 2};
  EXPECT_EQ(default_limit(cgroup, machine).bytes, 0U);
  EXPECT_STREQ(default_limit(cgroup, machine).source, "cgroup");
}

}  // namespace
}  // namespace plimsoll::memory::test
