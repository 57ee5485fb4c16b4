// Arena layouts: nothing alive at the same time overlaps, and the size stays near the lower bound.
#include "tensor/plan/arena.h"

#include <gtest/gtest.h>

#include <random>

namespace plimsoll::tensor {
namespace {

void expect_disjoint(const std::vector<BufferLife>& buffers, const ArenaLayout& layout) {
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    EXPECT_EQ(layout.offsets[a] % arena_alignment, 0U);
    EXPECT_LE(layout.offsets[a] + buffers[a].bytes, layout.bytes);
    for (std::size_t b = 0; b < a; ++b) {
      const bool together =
          buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
      if (!together || buffers[a].bytes == 0 || buffers[b].bytes == 0) continue;
      const bool apart = layout.offsets[a] + buffers[a].bytes <= layout.offsets[b] ||
                         layout.offsets[b] + buffers[b].bytes <= layout.offsets[a];
      EXPECT_TRUE(apart) << "buffers " << a << " and " << b << " overlap";
    }
  }
}

TEST(Arena, RandomLivesNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferLife> buffers;
    for (int index = 0; index < 40; ++index) {
      const auto first = static_cast<std::int32_t>(random() % 50);
      buffers.push_back({random() % 5000, first, first + static_cast<std::int32_t>(random() % 10)});
    }
    const ArenaLayout layout = plan_arena(buffers);
    expect_disjoint(buffers, layout);
    EXPECT_GE(layout.bytes, layout.lower_bound);
    EXPECT_LE(layout.bytes, layout.lower_bound * 3 / 2);
  }
}

TEST(Arena, ChainReusesTwoBuffers) {
  std::vector<BufferLife> chain;
  for (int step = 0; step < 10; ++step) chain.push_back({1 << 20, step, step + 1});
  EXPECT_EQ(plan_arena(chain).bytes, 2U << 20);
}

TEST(Arena, NothingTakesNothing) {
  EXPECT_EQ(plan_arena({}).bytes, 0U);
  const std::vector<BufferLife> empty{{0, 0, 5}, {0, 2, 3}};
  EXPECT_EQ(plan_arena(empty).bytes, 0U);
}

}  // namespace
}  // namespace plimsoll::tensor
