#include "tensor/kernels/packing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/numbers.h"

namespace plimsoll::tensor::kernels {
namespace {

struct Problem {
  std::int64_t taps = 1;
  std::int64_t depth = 1;
  std::int64_t columns = 1;
  std::int64_t panel = 16;
  std::int64_t depth_block = 1;
  bool flip = false;
};

/// The source's strides, by the order of its axes.
enum class Order { taps_depth_columns, columns_depth_taps, columns_taps_depth };

template <typename T>
void check(const Problem& problem, Order order, std::uint32_t seed) {
  test::Numbers numbers(seed);
  const std::int64_t tap_rows = PanelLayout::padded_depth(1, problem.depth, problem.depth_block);
  const PanelLayout layout{problem.taps * tap_rows, problem.columns, problem.panel, sizeof(T),
                           problem.depth_block};
  std::vector<T> source(static_cast<std::size_t>(problem.taps * problem.depth * problem.columns));
  for (T& x : source) x = static_cast<T>(numbers.next());
  PackSource from;
  from.flip_top_bit = problem.flip;
  switch (order) {
    case Order::taps_depth_columns:
      from.tap_stride = problem.depth * problem.columns;
      from.depth_stride = problem.columns;
      from.column_stride = 1;
      break;
    case Order::columns_depth_taps:
      from.tap_stride = 1;
      from.depth_stride = problem.taps;
      from.column_stride = problem.depth * problem.taps;
      break;
    case Order::columns_taps_depth:
      from.tap_stride = problem.depth;
      from.depth_stride = 1;
      from.column_stride = problem.depth * problem.taps;
      break;
  }
  std::vector<T> expected(layout.bytes() / sizeof(T), T{0});
  for (std::int64_t t = 0; t < problem.taps; ++t) {
    for (std::int64_t k = 0; k < problem.depth; ++k) {
      for (std::int64_t n = 0; n < problem.columns; ++n) {
        const T value = source[static_cast<std::size_t>(
            t * from.tap_stride + k * from.depth_stride + n * from.column_stride)];
        expected[static_cast<std::size_t>(layout.element(t * tap_rows + k, n))] =
            problem.flip ? static_cast<T>(value ^ 0x80U) : value;
      }
    }
  }
  // Whole, and in parts that cut panels and blocks anywhere.
  for (std::int64_t pieces : {1, 3}) {
    std::vector<T> packed(expected.size(), T{0});
    const auto cut = [&](std::int64_t size, std::int64_t piece) { return size * piece / pieces; };
    for (std::int64_t kp = 0; kp < pieces; ++kp) {
      for (std::int64_t np = 0; np < pieces; ++np) {
        PackRange range;
        range.taps = problem.taps;
        range.first_depth = cut(problem.depth, kp);
        range.depth = cut(problem.depth, kp + 1) - range.first_depth;
        range.first_column = cut(problem.columns, np);
        range.columns = cut(problem.columns, np + 1) - range.first_column;
        PackSource part = from;
        part.data = source.data() + range.first_depth * from.depth_stride +
                    range.first_column * from.column_stride;
        pack(layout, tap_rows, part, range, packed.data());
      }
    }
    EXPECT_EQ(std::memcmp(packed.data(), expected.data(), layout.bytes()), 0)
        << problem.taps << " taps, " << problem.depth << " deep, " << problem.columns
        << " columns, panels of " << problem.panel << ", order " << static_cast<int>(order) << ", "
        << pieces << " pieces";
  }
}

TEST(Packing, WritesWhatTheLayoutSays) {
  std::uint32_t seed = 1;
  for (std::int64_t panel : {4, 8, 16}) {
    for (std::int64_t taps : {1, 9}) {
      for (std::int64_t depth : {1, 3, 37, 70}) {
        for (std::int64_t columns : {1, 5, 16, 35, 64}) {
          for (Order order :
               {Order::taps_depth_columns, Order::columns_depth_taps, Order::columns_taps_depth}) {
            const Problem problem{taps, depth, columns, panel};
            check<std::uint32_t>(problem, order, ++seed);
            check<std::uint16_t>(problem, order, ++seed);
            check<std::uint8_t>(problem, order, ++seed);
            check<std::uint8_t>({taps, depth, columns, panel, 4, seed % 2 == 0}, order, ++seed);
          }
        }
      }
    }
  }
}

TEST(Packing, PartsOfTapsGoToTheirTaps) {
  // Tap 2 of 4 alone, channels 1 to 3 of 5.
  const PanelLayout layout{4 * 5, 6, 4, sizeof(std::uint32_t)};
  const std::uint32_t source[2][6] = {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}};
  std::vector<std::uint32_t> packed(layout.bytes() / 4, 0);
  pack(layout, 5, {source, 0, 6, 1}, {2, 1, 1, 2, 0, 6}, packed.data());
  for (std::int64_t row = 0; row < layout.k; ++row) {
    for (std::int64_t column = 0; column < 6; ++column) {
      const std::uint32_t expected =
          row == 11 ? source[0][column] : (row == 12 ? source[1][column] : 0);
      EXPECT_EQ(packed[static_cast<std::size_t>(layout.element(row, column))], expected);
    }
  }
}

TEST(Packing, TakesNoMoreThanTheSource) {
  for (std::int64_t panel : {4, 8, 16}) {
    const PanelLayout layout{4096, 4096 + panel, panel, 2};
    EXPECT_EQ(layout.bytes(), 4096U * static_cast<std::uint64_t>(4096 + panel) * 2U);
  }
}

}  // namespace
}  // namespace plimsoll::tensor::kernels
