#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/targets.h"
#include "kernels/tile_case.h"

namespace plimsoll::tensor::kernels::test {
namespace {

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// m, k, n of reference/data-tiling, empty ones among them.
constexpr std::int64_t shapes[][3] = {
    {1, 1, 1},   {2, 2, 2},       {4, 4, 4},       {8, 8, 8},    {9, 9, 9},       {6, 13, 3},
    {15, 37, 7}, {81, 19, 41},    {3, 5, 7},       {9, 6, 3},    {0, 5, 7},       {5, 0, 7},
    {5, 7, 0},   {1, 1000, 1000}, {457, 330, 512}, {13, 64, 96}, {438, 331, 513}, {30, 3, 129}};

constexpr PanelType types[] = {PanelType::f32, PanelType::f16, PanelType::bf16, PanelType::i8,
                               PanelType::u8};

class Tile : public TargetTest {};

TEST_P(Tile, EqualsTheDefinitionForAllShapesAndTypes) {
  for (const auto& shape : shapes) {
    const bool large = shape[0] * shape[1] * shape[2] > 10'000'000;
    for (PanelType type : types) {
      if (large && type != PanelType::f32) continue;
      TileCase problem{.m = shape[0], .k = shape[1], .n = shape[2], .type = type};
      problem.zero_points = type == PanelType::u8;
      problem.prepare(17);
      EXPECT_TRUE(same_bits(problem.run_all(GetParam()), problem.expected()))
          << shape[0] << "x" << shape[1] << "x" << shape[2] << " type " << static_cast<int>(type);
    }
  }
}

TEST_P(Tile, TakesEveryNumberOfRowsAndPanels) {
  const KernelTable& table = kernel_table(GetParam());
  for (std::int64_t m = 1; m <= table.max_rows; ++m) {
    for (std::int64_t panels = 1; panels <= 9; ++panels) {
      for (PanelType type : types) {
        TileCase problem{.m = m, .k = 5, .n = panels * table.panel - panels % 2, .type = type};
        problem.zero_points = type == PanelType::i8;
        problem.shift = true;
        problem.prepare(static_cast<std::uint32_t>(m * 10 + panels));
        EXPECT_TRUE(same_bits(problem.run_all(GetParam()), problem.expected()))
            << m << " rows, " << panels << " panels, type " << static_cast<int>(type);
      }
    }
  }
}

TEST_P(Tile, LeavesWhatIsBetweenStridedRows) {
  TileCase problem{.m = 29, .k = 11, .n = 37, .taps = 3, .row_stride = 23, .output_stride = 45};
  problem.residual = problem.scale = problem.shift = true;
  problem.prepare(3);
  EXPECT_TRUE(same_bits(problem.run_all(GetParam()), problem.expected()));
}

TEST_P(Tile, DoesNotDependOnHowRowsAndPanelsAreGrouped) {
  for (PanelType type : types) {
    TileCase problem{.m = 41, .k = 150, .n = 130, .taps = 2, .type = type, .whole_numbers = false};
    problem.residual = problem.scale = problem.shift = true;
    problem.epilogue.activation = Activation::silu;
    problem.prepare(5);
    const auto panels = problem.pack_for(GetParam());
    const std::vector<float> whole = problem.run_all(GetParam());
    for (std::int64_t rows = 1; rows <= kernel_table(GetParam()).max_rows; ++rows) {
      std::vector<float> output = problem.blank_output();
      // Strips of rows, each with tiles of `rows` and another number of panels.
      problem.run(GetParam(), panels, rows, 1 + rows % 5, 0, 17, output);
      problem.run(GetParam(), panels, rows, 2 + rows % 3, 17, 18, output);
      problem.run(GetParam(), panels, rows, 4, 18, 41, output);
      EXPECT_TRUE(same_bits(output, whole)) << rows << " rows, type " << static_cast<int>(type);
    }
  }
}

TEST_P(Tile, AppliesEveryActivation) {
  struct {
    Activation activation;
    float low;
    float high;
  } const cases[] = {{Activation::none, 0, 0},
                     {Activation::clip, -1, 6},
                     {Activation::clip, 0, std::numeric_limits<float>::infinity()},
                     {Activation::leaky_relu, 0.1F, 0},
                     {Activation::hard_sigmoid, 0.2F, 0.5F},
                     {Activation::hard_swish, 1.0F / 6, 0},
                     {Activation::hard_swish, 0.05F, -2},
                     {Activation::sigmoid, 0, 0},
                     {Activation::silu, 0, 0},
                     {Activation::tanh, 0, 0},
                     {Activation::gelu, 0, 0}};
  for (const auto& each : cases) {
    for (bool after : {false, true}) {
      TileCase problem{.m = 14, .k = 6, .n = 71, .whole_numbers = false};
      problem.residual = problem.scale = problem.shift = true;
      problem.epilogue = {nullptr, nullptr, each.activation, each.low, each.high, after};
      problem.prepare(11);
      for (float& x : problem.shifts) x *= 6;
      problem.shifts[0] = 1000;
      problem.shifts[1] = -1000;
      const std::vector<float> expected = problem.expected();
      const std::vector<float> actual = problem.run_all(GetParam());
      for (std::size_t i = 0; i < actual.size(); ++i) {
        ASSERT_NEAR(actual[i], expected[i], 2e-6 * std::max(1.0F, std::abs(expected[i])))
            << "activation " << static_cast<int>(each.activation) << " at " << i;
      }
    }
  }
}

TEST_P(Tile, KeepsNotANumber) {
  for (Activation activation :
       {Activation::none, Activation::clip, Activation::leaky_relu, Activation::hard_sigmoid,
        Activation::hard_swish, Activation::sigmoid, Activation::silu, Activation::tanh,
        Activation::gelu}) {
    TileCase problem{.m = 2, .k = 3, .n = 40};
    problem.epilogue = {nullptr, nullptr, activation, 0, 6, false};
    problem.prepare(2);
    problem.a[0] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> output = problem.run_all(GetParam());
    for (std::size_t j = 0; j < 40; ++j) {
      EXPECT_TRUE(std::isnan(output[j])) << static_cast<int>(activation);
      EXPECT_FALSE(std::isnan(output[40 + j])) << static_cast<int>(activation);
    }
  }
}

TEST_P(Tile, ReadsAllHalves) {
  // Every bit pattern of f16 and bf16 times 1: subnormal, infinite and not a number too.
  for (PanelType type : {PanelType::f16, PanelType::bf16}) {
    const std::int64_t panel = kernel_table(GetParam()).panel;
    TileCase problem{.m = 1, .k = 1, .n = 65536, .type = type};
    problem.prepare(1);
    problem.a[0] = 1;
    std::vector<std::byte> panels(65536 * 2);
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      std::memcpy(panels.data() + bits * 2, &half, 2);
      std::byte* four = reinterpret_cast<std::byte*>(&problem.b[bits]);
      const std::uint32_t wide = type == PanelType::bf16 ? bits << 16U : 0;
      std::memcpy(four, &wide, 4);
      if (type == PanelType::f16) {
        const std::uint32_t exponent = bits >> 10U & 31U;
        const auto fraction = static_cast<float>(bits & 1023U);
        float value = exponent == 0 ? std::ldexp(fraction, -24)
                      : exponent == 31
                          ? (fraction == 0 ? INFINITY : NAN)
                          : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
        problem.b[bits] = (bits >> 15U) != 0 ? -value : value;
      }
    }
    ASSERT_EQ(65536 % panel, 0);
    std::vector<float> output = problem.blank_output();
    problem.run(GetParam(), panels, 1, 64, 0, 1, output);
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      if (std::isnan(problem.b[bits])) {
        ASSERT_TRUE(std::isnan(output[bits])) << bits;
      } else {
        ASSERT_EQ(output[bits], problem.b[bits]) << bits;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Tile, all_targets, target_test_name);

TEST(Targets, TheWideFormOnNarrowVectorsComputesTheSameBits) {
  if (!target_supported(Target::avx512)) GTEST_SKIP() << "this CPU does not support avx512";
  for (PanelType type : types) {
    TileCase problem{.m = 50, .k = 91, .n = 77, .taps = 3, .type = type, .whole_numbers = false};
    problem.residual = problem.scale = problem.shift = true;
    problem.zero_points = type == PanelType::u8;
    problem.epilogue.activation = Activation::gelu;
    problem.prepare(23);
    EXPECT_EQ(problem.pack_for(Target::avx512), problem.pack_for(Target::avx512_on_256));
    EXPECT_TRUE(same_bits(problem.run_all(Target::avx512), problem.run_all(Target::avx512_on_256)));
  }
}

}  // namespace
}  // namespace plimsoll::tensor::kernels::test
