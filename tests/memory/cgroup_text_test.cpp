// Where the memory cgroup is and what it allows, for every layout there is.
#include "memory/cgroup_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace plimsoll::memory::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

using Files = std::map<std::string, std::string>;

CgroupMemory read(std::string_view cgroup, std::string_view mountinfo, const Files& files) {
  return read_cgroup(find_cgroup_folders(cgroup, mountinfo), [&](const std::string& path) {
    const auto found = files.find(path);
    return found == files.end() ? std::string() : found->second;
  });
}

constexpr const char* v2_mount =
    "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* v1_mounts =
    "30 24 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
    "33 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 30 0:31 / /sys/fs/cgroup/memory rw shared:11 - cgroup cgroup rw,memory\n";

TEST(CgroupValue, OnlyANumberIsALimit) {
  EXPECT_EQ(parse_cgroup_value("1048576\n"), 1048576U);
  EXPECT_EQ(parse_cgroup_value("0\n"), 0U);
  EXPECT_FALSE(parse_cgroup_value("max\n"));
  EXPECT_FALSE(parse_cgroup_value("9223372036854771712\n"));  // v1: no limit
  EXPECT_FALSE(parse_cgroup_value(""));
  EXPECT_FALSE(parse_cgroup_value("\n"));
  EXPECT_FALSE(parse_cgroup_value("-1\n"));
  EXPECT_FALSE(parse_cgroup_value("12 34\n"));
  EXPECT_FALSE(parse_cgroup_value("12k\n"));
  EXPECT_FALSE(parse_cgroup_value("99999999999999999999999\n"));
}

TEST(CgroupStat, FindsWholeNames) {
  const char* text = "inactive_file_x 1\ninactive_file 22\nactive_file\n";
  EXPECT_EQ(parse_cgroup_stat(text, "inactive_file"), 22U);
  EXPECT_FALSE(parse_cgroup_stat(text, "active_file"));
  EXPECT_FALSE(parse_cgroup_stat(text, "file"));
  EXPECT_FALSE(parse_cgroup_stat("", "file"));
}

TEST(Cgroup, V2TakesTheLevelWithTheLeastRoom) {
  Files files{{"/sys/fs/cgroup/a/b/memory.max", "4000\n"},
              {"/sys/fs/cgroup/a/b/memory.current", "500\n"},
              {"/sys/fs/cgroup/a/b/memory.peak", "900\n"},
              {"/sys/fs/cgroup/a/memory.max", "5000\n"},
              {"/sys/fs/cgroup/a/memory.current", "4500\n"}};
  CgroupMemory memory = read("0::/a/b\n", v2_mount, files);
  EXPECT_EQ(memory.version, 2);
  EXPECT_EQ(memory.limit_bytes, 5000U);
  EXPECT_EQ(memory.used_bytes, 4500U);
  EXPECT_EQ(memory.peak_bytes, 900U);  // its own

  files["/sys/fs/cgroup/a/memory.stat"] = "anon 400\nactive_file 1000\ninactive_file 3000\n";
  memory = read("0::/a/b\n", v2_mount, files);
  EXPECT_EQ(memory.limit_bytes, 4000U);  // the parent's use is page cache
  EXPECT_EQ(memory.used_bytes, 500U);
}

TEST(Cgroup, V2WithoutLimitStillTellsItsUse) {
  const CgroupMemory memory = read("0::/a\n", v2_mount,
                                   {{"/sys/fs/cgroup/a/memory.max", "max\n"},
                                    {"/sys/fs/cgroup/a/memory.high", "max\n"},
                                    {"/sys/fs/cgroup/a/memory.current", "700\n"}});
  EXPECT_EQ(memory.version, 2);
  EXPECT_FALSE(memory.limit_bytes);
  EXPECT_EQ(memory.used_bytes, 700U);
  EXPECT_FALSE(memory.peak_bytes);  // older kernels have no memory.peak
}

TEST(Cgroup, V2HighIsALimit) {
  const CgroupMemory memory = read("0::/a\n", v2_mount,
                                   {{"/sys/fs/cgroup/a/memory.max", "9000\n"},
                                    {"/sys/fs/cgroup/a/memory.high", "6000\n"},
                                    {"/sys/fs/cgroup/a/memory.current", "700\n"}});
  EXPECT_EQ(memory.limit_bytes, 6000U);
}

TEST(Cgroup, V2InANamespaceIsTheMountItself) {
  const CgroupMemory memory =
      read("0::/\n", v2_mount,
           {{"/sys/fs/cgroup/memory.max", "2000\n"}, {"/sys/fs/cgroup/memory.current", "100\n"}});
  EXPECT_EQ(memory.limit_bytes, 2000U);
  EXPECT_EQ(memory.used_bytes, 100U);
}

TEST(Cgroup, V1WalksUpAndKnowsNoLimit) {
  const CgroupMemory memory =
      read("12:cpu,cpuacct:/x\n4:memory:/job/task\n", v1_mounts,
           {{"/sys/fs/cgroup/memory/job/task/memory.limit_in_bytes", "9223372036854771712\n"},
            {"/sys/fs/cgroup/memory/job/task/memory.usage_in_bytes", "50\n"},
            {"/sys/fs/cgroup/memory/job/task/memory.max_usage_in_bytes", "80\n"},
            {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096\n"},
            {"/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "90\n"},
            {"/sys/fs/cgroup/memory/job/memory.stat",
             "active_file 1\ntotal_active_file 30\ntotal_inactive_file 10\n"},
            {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}});
  EXPECT_EQ(memory.version, 1);
  EXPECT_EQ(memory.limit_bytes, 4096U);
  EXPECT_EQ(memory.used_bytes, 90U);
  EXPECT_EQ(memory.reclaimable_bytes, 40U);
  EXPECT_EQ(memory.peak_bytes, 80U);
}

TEST(Cgroup, V1LimitOfAnInvisibleAncestorCounts) {
  const CgroupMemory memory =
      read("4:memory:/docker/abc\n",
           "35 30 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup "
           "cgroup rw,memory\n",
           {{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n"},
            {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "50\n"},
            {"/sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 7000\n"}});
  EXPECT_EQ(memory.limit_bytes, 7000U);
}

TEST(Cgroup, AContainersMountRootIsCutOff) {
  const auto folders = find_cgroup_folders(
      "4:memory:/docker/abc/inner\n",
      "35 30 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  ASSERT_THAT(folders, SizeIs(1));
  EXPECT_EQ(folders[0].path, "/sys/fs/cgroup/memory/inner");
  EXPECT_EQ(folders[0].mount, "/sys/fs/cgroup/memory");
}

TEST(Cgroup, ANeighbourOfTheMountRootIsNotCutOff) {
  const auto folders = find_cgroup_folders(
      "4:memory:/docker/abcdef\n",
      "35 30 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  ASSERT_THAT(folders, SizeIs(1));
  EXPECT_EQ(folders[0].path, "/sys/fs/cgroup/memory/docker/abcdef");
}

TEST(Cgroup, WhatIsOutsideOfTheMountCountsAsTheMount) {
  for (const char* own : {"0::/../../other\n", "0::/..\n", "0::/\n"}) {
    const auto folders = find_cgroup_folders(own, v2_mount);
    ASSERT_THAT(folders, SizeIs(1));
    EXPECT_EQ(folders[0].path, "/sys/fs/cgroup") << own;
  }
  // Dots inside a name leave nothing.
  EXPECT_EQ(find_cgroup_folders("0::/a..b/..c\n", v2_mount).at(0).path, "/sys/fs/cgroup/a..b/..c");
  // A path that is not shown: the levels that are shown still count.
  const CgroupMemory memory =
      read("0::/gone/away\n", v2_mount,
           {{"/sys/fs/cgroup/memory.max", "2000\n"}, {"/sys/fs/cgroup/memory.current", "9\n"}});
  EXPECT_EQ(memory.limit_bytes, 2000U);
}

TEST(Cgroup, BothAtOnceTakesTheOneWithAMemoryController) {
  const std::string mounts =
      std::string(v1_mounts) + "40 24 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  const CgroupMemory v1 = read("4:memory:/a\n0::/a\n", mounts,
                               {{"/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "100\n"},
                                {"/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1\n"}});
  EXPECT_EQ(v1.version, 1);
  EXPECT_EQ(v1.limit_bytes, 100U);
  const CgroupMemory v2 = read("4:memory:/a\n0::/a\n", mounts,
                               {{"/sys/fs/cgroup/unified/a/memory.max", "200\n"},
                                {"/sys/fs/cgroup/unified/a/memory.current", "2\n"}});
  EXPECT_EQ(v2.version, 2);
  EXPECT_EQ(v2.limit_bytes, 200U);
}

TEST(Cgroup, MountPointsWithBlanksAreUnescaped) {
  const auto folders = find_cgroup_folders(
      "0::/a\n", "31 24 0:27 / /mnt/my\\040groups\\134x\\9 rw - cgroup2 none rw\n");
  ASSERT_THAT(folders, SizeIs(1));
  EXPECT_EQ(folders[0].path, "/mnt/my groups\\x\\9/a");
}

TEST(Cgroup, MissingAndDamagedTextIsNoCgroup) {
  EXPECT_EQ(read("", "", {}).version, 0);
  EXPECT_EQ(read("0::/a\n", "", {}).version, 0);
  EXPECT_EQ(read("", v2_mount, {}).version, 0);
  EXPECT_EQ(read("0::/a\n", v2_mount, {}).version, 0);  // mounted, no memory controller
  for (const char* text :
       {":", "::", ":::\n", "0::", "0::relative\n", "4:memory\n", "\n\n\n", "0:memory:\n"}) {
    EXPECT_THAT(find_cgroup_folders(text, v2_mount), IsEmpty()) << text;
  }
  for (const char* text : {" - ", " - cgroup2", "31 - cgroup2 x\n", "31 24 0:27 / - cgroup2 x y\n",
                           "31 24 0:27 / relative rw - cgroup2 x y\n", "- cgroup2 - cgroup2\n"}) {
    EXPECT_THAT(find_cgroup_folders("0::/a\n", text), IsEmpty()) << text;
  }
}

TEST(Cgroup, DeepPathsEndAtTheMount) {
  std::string path;
  for (int depth = 0; depth < 500; ++depth) path += "/d";
  const CgroupMemory memory =
      read("0::" + path + "//\n", v2_mount, {{"/sys/fs/cgroup/d/memory.max", "123\n"}});
  EXPECT_EQ(memory.limit_bytes, 123U);
}

}  // namespace
}  // namespace plimsoll::memory::test
