// Code runs where it was put, no mapping is writable and executable, and pages are claimed and
// given back.
#include "code/code_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "code/code_ranges.h"
#include "code/trap_sites.h"
#include "memory/budget.h"
#include "plimsoll/error.h"

namespace plimsoll::code::test {
namespace {

/// mov eax, number; ret
std::vector<std::byte> function_that_returns(std::uint8_t number) {
  return {std::byte{0xB8}, std::byte{number}, std::byte{0},
          std::byte{0},    std::byte{0},      std::byte{0xC3}};
}

int call(const std::byte* code) {
  return reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(code))();
}

/// Of the mappings of "plimsoll code": how many, and whether one is writable.
struct Mappings {
  int count = 0;
  bool is_writable = false;
};
Mappings mappings() {
  Mappings found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("plimsoll code") == std::string::npos) continue;
    ++found.count;
    found.is_writable |= line.find('w') < line.find("plimsoll");
  }
  return found;
}

TEST(CodeMemory, CodeRunsAndIsNeverWritable) {
  const auto budget = memory::Budget::root("test", 1 << 20);
  {
    auto memory = CodeMemory::create(budget, 256 << 10);
    ASSERT_TRUE(memory);
    EXPECT_EQ(budget->used(), 0U);
    const auto first = (*memory)->add(function_that_returns(7));
    const auto second = (*memory)->add(function_that_returns(9));
    ASSERT_TRUE(first && second);
    EXPECT_EQ(call(*first), 7);
    EXPECT_EQ(call(*second), 9);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*second) % 16, 0U);
    EXPECT_EQ(budget->used(), 4096U);
    EXPECT_EQ(mappings().count, 1);
    EXPECT_FALSE(mappings().is_writable);
    // Longer than what is mapped for writing at once.
    std::vector<std::byte> longer(150 << 10, std::byte{0x90});
    const auto tail = function_that_returns(11);
    longer.insert(longer.end(), tail.begin(), tail.end());
    const auto third = (*memory)->add(longer);
    ASSERT_TRUE(third);
    EXPECT_EQ(call(*third), 11);
    EXPECT_EQ(mappings().count, 1);
  }
  EXPECT_EQ(budget->used(), 0U);
  EXPECT_EQ(mappings().count, 0);
}

TEST(CodeMemory, WhatDoesNotFitIsRefusedAndChangesNothing) {
  const auto budget = memory::Budget::root("test", 8192);
  auto memory = CodeMemory::create(budget, 64 << 10);
  ASSERT_TRUE(memory);
  const auto first = (*memory)->add(function_that_returns(3));
  ASSERT_TRUE(first);
  const std::vector<std::byte> large(9000, std::byte{0xC3});
  const auto refused = (*memory)->add(large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().purpose, "compiled code");
  EXPECT_EQ((*memory)->used_bytes(), 6U);
  const std::vector<std::byte> beyond(65 << 10, std::byte{0xC3});
  EXPECT_FALSE((*memory)->add(beyond));
  EXPECT_EQ(call(*first), 3);
}

TEST(CodeMemory, ThreadsAddSideBySide) {
  const auto budget = memory::Budget::root("test", 1 << 20);
  auto memory = CodeMemory::create(budget, 256 << 10);
  ASSERT_TRUE(memory);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 100; ++round) {
        const auto number = static_cast<std::uint8_t>(thread * 50 + round % 50);
        const auto code = (*memory)->add(function_that_returns(number));
        if (!code || call(*code) != number) ++wrong[static_cast<std::size_t>(thread)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(TrapSites, AreFoundWhereTheyAreAndNowhereElse) {
  TrapSiteWriter writer;
  const std::vector<std::uint32_t> offsets = {0, 3, 130, 131, 70'000};
  for (std::size_t index = 0; index < offsets.size(); ++index) {
    writer.add(offsets[index], static_cast<std::uint8_t>(index + 1));
  }
  EXPECT_LE(writer.bytes().size(), 13U);
  std::size_t found = 0;
  for (std::uint32_t offset = 0; offset <= 70'010; ++offset) {
    const auto kind = find_trap_site(writer.bytes(), offset);
    if (!kind) continue;
    ASSERT_LT(found, offsets.size());
    EXPECT_EQ(offset, offsets[found]);
    EXPECT_EQ(*kind, ++found);
  }
  EXPECT_EQ(found, offsets.size());
  const std::vector<std::uint8_t> cut = {0x80};
  EXPECT_FALSE(find_trap_site(cut, 0));
}

TEST(CodeRanges, AnAddressHasItsOwnerWhileTheRangeIsRegistered) {
  struct Owner : CodeOwner {
    [[nodiscard]] int trap_kind_at(const std::byte* /*address*/) const noexcept override {
      return 5;
    }
  };
  const std::vector<std::byte> bytes(100);
  const Owner owner;
  EXPECT_EQ(find_code_owner(bytes.data()), nullptr);
  {
    const CodeRange range(bytes.data(), bytes.size(), owner);
    EXPECT_EQ(find_code_owner(bytes.data()), &owner);
    EXPECT_EQ(find_code_owner(bytes.data() + 99), &owner);
    EXPECT_EQ(find_code_owner(bytes.data() + 100), nullptr);
  }
  EXPECT_EQ(find_code_owner(bytes.data()), nullptr);
}

}  // namespace
}  // namespace plimsoll::code::test
