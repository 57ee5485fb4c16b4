// Blocks: what is mapped, aligned, discarded and refused, by the kernel's word.
#include "memory/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "child.h"
#include "support/new_failure.h"

namespace plimsoll::memory::test {
namespace {

using ::testing::HasSubstr;

#ifdef PLIMSOLL_SANITIZED
#define SKIP_IF_SANITIZED() GTEST_SKIP() << "a sanitizer's own memory hides what is measured"
#else
#define SKIP_IF_SANITIZED() static_cast<void>(0)
#endif

TEST(Block, IsZeroedAlignedAndReservedInWholePages) {
  const auto root = Budget::root("process", 1 << 20);
  auto block = Block::allocate(*root, 70'001, "buffer");
  ASSERT_TRUE(block);
  EXPECT_EQ(block->size(), 70'001U);
  EXPECT_EQ(block->bytes().size(), 70'001U);
  EXPECT_EQ(root->used(), 73'728U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->data()) % 4096, 0U);
  EXPECT_TRUE(std::ranges::all_of(block->bytes(), [](std::byte b) { return b == std::byte{0}; }));
  block->data()[70'000] = std::byte{1};

  Block moved = std::move(*block);
  EXPECT_EQ(block->data(), nullptr);  // NOLINT: a moved-from block is empty
  auto other = Block::allocate(*root, 4096, "other");
  ASSERT_TRUE(other);
  moved = std::move(*other);
  EXPECT_EQ(root->used(), 4096U);
  moved.reset();
  moved.reset();
  EXPECT_EQ(root->used(), 0U);
}

TEST(Block, OfHugePagesIsRoundedAndAlignedToThem) {
  const auto root = Budget::root("process", 16 << 20);
  for (int round = 0; round < 4; ++round) {
    const auto block = Block::allocate(*root, (2 << 20) + 1, "weights", HugePages::always);
    ASSERT_TRUE(block);
    EXPECT_EQ(root->used(), 4U << 20);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->data()) % (2 << 20), 0U);
    std::memset(block->data(), round, block->size());
  }
  EXPECT_EQ(root->used(), 0U);
}

TEST(Block, OfNothingHasAnAddress) {
  const auto root = Budget::root("process", 1 << 20);
  const auto block = Block::allocate(*root, 0, "nothing");
  ASSERT_TRUE(block);
  EXPECT_NE(block->data(), nullptr);
  EXPECT_EQ(block->size(), 0U);
  EXPECT_EQ(root->used(), 4096U);
}

TEST(Block, IsRefusedByTheLedgerBeforeTheKernelIsAsked) {
  const auto root = Budget::root("process", 1 << 20);
  const auto block = Block::allocate(*root, 2 << 20, "activations");
  ASSERT_FALSE(block);
  EXPECT_FALSE(block.error().by_kernel);
  EXPECT_EQ(block.error().available_bytes, 1U << 20);
  EXPECT_EQ(root->used(), 0U);
}

TEST(Block, OfImpossibleSizeIsRefused) {
  const auto root = Budget::root("process", Budget::unlimited);
  for (const std::uint64_t bytes : {UINT64_MAX, UINT64_MAX - 4095, UINT64_MAX / 2}) {
    const auto block = Block::allocate(*root, bytes, "absurd", HugePages::always);
    ASSERT_FALSE(block);
    EXPECT_EQ(block.error().requested_bytes, bytes);
  }
  // Rounds without wrapping, and no address space holds it.
  const auto block = Block::allocate(*root, UINT64_MAX / 8, "absurd");
  ASSERT_FALSE(block);
  EXPECT_TRUE(block.error().by_kernel);
  EXPECT_THAT(block.error().to_string(), HasSubstr("the kernel refused to map it"));
  EXPECT_EQ(root->used(), 0U);
}

TEST(Block, DiscardTouchesWholePagesInsideTheRangeOnly) {
  const auto root = Budget::root("process", 1 << 20);
  auto block = Block::allocate(*root, 5 * 4096 + 100, "window");
  ASSERT_TRUE(block);
  const auto fill = [&] { std::memset(block->data(), 7, block->size()); };
  const auto zeros = [&] { return std::ranges::count(block->bytes(), std::byte{0}); };
  fill();
  block->discard(1, 4096 + 4094);  // ends before the second boundary
  EXPECT_EQ(zeros(), 0);
  block->discard(1, 2 * 4096);
  EXPECT_EQ(zeros(), 4096);
  EXPECT_EQ(block->data()[4096], std::byte{0});
  EXPECT_EQ(block->data()[4095], std::byte{7});
  fill();
  block->discard(4096, UINT64_MAX);
  EXPECT_EQ(zeros(), 4 * 4096 + 100);
  fill();
  block->discard(5 * 4096, 100);  // the last page has nobody else in it
  EXPECT_EQ(zeros(), 100);
  fill();
  block->discard(UINT64_MAX, 1);
  block->discard(6 * 4096, 1);
  block->discard(0, 0);
  EXPECT_EQ(zeros(), 0);
  Block().discard(0, 1);
}

TEST(Block, NothingIsLostWhereAnAllocationFails) {
  const auto root = Budget::root("process", 1 << 20);
  const std::string purpose(60, 'p');
  const auto failures = plimsoll::test::for_each_failed_new([&] {
    const auto granted = Block::allocate(*root, 100'000, purpose);
    const auto refused = Block::allocate(*root, 2'000'000, purpose);
    if (!granted || refused) ADD_FAILURE();
  });
  EXPECT_GE(failures.failed, 3U);
  EXPECT_EQ(failures.caught, failures.failed);
  EXPECT_EQ(failures.leaked, 0U);
  EXPECT_EQ(root->used(), 0U);
}

TEST(BlockInAProcess, VmHwmIsWhatWasTouched) {
  SKIP_IF_SANITIZED();
  for (const int mebibytes : {5, 64}) {
    const auto figures = run_probe("touch " + std::to_string(mebibytes)).numbers();
    ASSERT_EQ(figures.size(), 3U);
    EXPECT_LT(figures[0], 8 * mebibyte) << "the measuring program is not small";
    EXPECT_LE(std::abs(figures[1] - figures[0] - mebibytes * mebibyte), mebibyte);
    EXPECT_LE(std::abs(figures[2] - figures[0] - mebibytes * mebibyte), mebibyte);
  }
}

TEST(BlockInAProcess, DiscardLowersVmRss) {
  SKIP_IF_SANITIZED();
  const auto figures = run_probe("discard 40").numbers();
  ASSERT_EQ(figures.size(), 4U);
  EXPECT_LE(std::abs(figures[0] - figures[1] - 20 * mebibyte), mebibyte);
  EXPECT_EQ(figures[2], 0);  // the last discarded byte
  EXPECT_EQ(figures[3], 1);  // the first kept one
}

TEST(BlockInAProcess, HugePagesAreThoseChosen) {
  SKIP_IF_SANITIZED();
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string enabled;
  std::getline(file, enabled);
  if (enabled.empty() || enabled.find("[never]") != std::string::npos) {
    GTEST_SKIP() << "transparent huge pages are off on this machine";
  }
  const auto always = run_probe("huge 32 always").numbers();
  ASSERT_EQ(always.size(), 2U);
  EXPECT_GE(always[1] - always[0], 2 * mebibyte) << "no huge page at all";
  const auto never = run_probe("huge 32 never").numbers();
  ASSERT_EQ(never.size(), 2U);
  EXPECT_EQ(never[1] - never[0], 0);
}

TEST(BlockInAProcess, AlignmentCostsNoData) {
  SKIP_IF_SANITIZED();
  const auto figures = run_probe("aligned 8").numbers();
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_LE(std::abs(figures[1] - figures[0] - 8 * mebibyte), mebibyte / 2);
}

}  // namespace
}  // namespace plimsoll::memory::test
