#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/numbers.h"
#include "kernels/targets.h"
#include "tensor/kernels/forms/forms.h"
#include "tensor/kernels/packing.h"
#include "tensor/kernels/table.h"

namespace plimsoll::tensor::kernels::test {
namespace {

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

struct IntegerCase {
  std::int64_t m = 1;
  std::int64_t k = 1;  ///< of each tap
  std::int64_t n = 1;
  std::int64_t taps = 1;
  bool a_signed = false;
  bool b_signed = true;
  bool b_zeros = false;
  bool bias = false;
  IntegerOutput output = IntegerOutput::i32;
  bool extreme = false;  ///< bytes at the ends of their range: where saturating kernels differ
};

class IntegerTiles : public TargetTest {
 protected:
  struct Operands {
    std::vector<std::uint8_t> a;  ///< [taps][m][k]
    std::vector<std::uint8_t> b;  ///< [taps][k][n]
    std::int32_t a_zero = 0;
    std::vector<std::int32_t> b_zeros;
    std::vector<std::int32_t> bias;
    std::vector<float> scale;
  };

  static std::int32_t value(std::uint8_t byte, bool is_signed) {
    return is_signed ? static_cast<std::int8_t>(byte) : static_cast<std::int32_t>(byte);
  }

  static Operands make(const IntegerCase& problem) {
    Numbers numbers(static_cast<std::uint32_t>(problem.m * 31 + problem.k * 7 + problem.n));
    Operands made;
    const auto fill = [&](std::int64_t count, bool is_signed) {
      std::vector<std::uint8_t> bytes(index(count));
      for (std::uint8_t& byte : bytes) {
        byte = static_cast<std::uint8_t>(problem.extreme ? (is_signed ? 0x80U : 0xFFU)
                                                         : numbers.next());
      }
      return bytes;
    };
    made.a = fill(problem.taps * problem.m * problem.k, problem.a_signed);
    made.b = fill(problem.taps * problem.k * problem.n, problem.b_signed);
    made.a_zero = problem.a_signed ? -9 : 131;
    for (std::int64_t j = 0; j < problem.n; ++j) {
      if (problem.b_zeros) {
        made.b_zeros.push_back(static_cast<std::int32_t>(problem.b_signed ? numbers.whole(-128, 127)
                                                                          : numbers.whole(0, 255)));
      }
      if (problem.bias) {
        made.bias.push_back(static_cast<std::int32_t>(numbers.whole(-100000, 100000)));
      }
      // Powers of two, so that halves come up and must go to even.
      made.scale.push_back(std::ldexp(1.0F, -static_cast<int>(numbers.whole(1, 14))));
    }
    return made;
  }

  static std::vector<std::int32_t> sums(const IntegerCase& problem, const Operands& made) {
    std::vector<std::int32_t> result(index(problem.m * problem.n));
    for (std::int64_t i = 0; i < problem.m; ++i) {
      for (std::int64_t j = 0; j < problem.n; ++j) {
        std::int64_t sum = problem.bias ? made.bias[index(j)] : 0;
        for (std::int64_t t = 0; t < problem.taps; ++t) {
          for (std::int64_t l = 0; l < problem.k; ++l) {
            const std::int64_t a =
                value(made.a[index((t * problem.m + i) * problem.k + l)], problem.a_signed) -
                made.a_zero;
            const std::int64_t b =
                value(made.b[index((t * problem.k + l) * problem.n + j)], problem.b_signed) -
                (problem.b_zeros ? made.b_zeros[index(j)] : 0);
            sum += a * b;
          }
        }
        result[index(i * problem.n + j)] = static_cast<std::int32_t>(sum);
      }
    }
    return result;
  }

  static std::size_t output_width(IntegerOutput output) {
    return output == IntegerOutput::i32 || output == IntegerOutput::f32 ? 4 : 1;
  }

  static std::vector<std::byte> expected(const IntegerCase& problem, const Operands& made) {
    const std::vector<std::int32_t> exact = sums(problem, made);
    std::vector<std::byte> bytes(exact.size() * output_width(problem.output));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const float scale = made.scale[i % index(problem.n)];
      const float scaled = static_cast<float>(exact[i]) * scale;
      if (problem.output == IntegerOutput::i32) {
        std::memcpy(&bytes[i * 4], &exact[i], 4);
      } else if (problem.output == IntegerOutput::f32) {
        std::memcpy(&bytes[i * 4], &scaled, 4);
      } else {
        const bool is_signed = problem.output == IntegerOutput::i8;
        const double rounded = std::nearbyint(double{scaled}) + 3;
        const double least = is_signed ? -128 : 0;
        const double clamped = std::min(std::max(rounded, least), least + 255);
        bytes[i] = static_cast<std::byte>(static_cast<std::int32_t>(clamped));
      }
    }
    return bytes;
  }

  static std::vector<std::byte> run(const KernelTable& table, const IntegerCase& problem,
                                    const Operands& made, std::int64_t tile_rows) {
    const std::int64_t tap_rows = PanelLayout::padded_depth(1, problem.k, integer_depth_block);
    const PanelLayout layout{problem.taps * tap_rows, problem.n, table.panel, 1,
                             integer_depth_block};
    std::vector<std::int8_t> panels(layout.bytes());
    PackRange range;
    range.taps = problem.taps;
    range.depth = problem.k;
    range.columns = problem.n;
    pack(layout, tap_rows, {made.b.data(), problem.k * problem.n, problem.n, 1, !problem.b_signed},
         range, panels.data());
    const std::size_t width = output_width(problem.output);
    std::vector<std::byte> output(index(problem.m * problem.n) * width);
    std::vector<const std::uint8_t*> rows;
    std::vector<void*> outputs;
    for (std::int64_t row = 0; row < problem.m; row += tile_rows) {
      IntegerTileTask task;
      task.count = std::min(tile_rows, problem.m - row);
      rows.clear();
      outputs.clear();
      for (std::int64_t t = 0; t < problem.taps; ++t) {
        for (std::int64_t r = 0; r < task.count; ++r) {
          rows.push_back(made.a.data() + (t * problem.m + row + r) * problem.k);
        }
      }
      for (std::int64_t r = 0; r < task.count; ++r) {
        outputs.push_back(output.data() + index((row + r) * problem.n) * width);
      }
      task.rows = rows.data();
      task.taps = problem.taps;
      task.depth = problem.k;
      task.a_is_signed = problem.a_signed;
      task.a_zero = made.a_zero;
      task.panels = panels.data();
      task.b_was_unsigned = !problem.b_signed;
      task.b_zeros = problem.b_zeros ? made.b_zeros.data() : nullptr;
      task.columns = problem.n;
      task.last_panel = layout.panels();
      task.bias = problem.bias ? made.bias.data() : nullptr;
      task.output = problem.output;
      task.outputs = outputs.data();
      task.epilogue.scale = made.scale.data();
      task.output_zero = 3;
      table.integer_tile(task);
    }
    return output;
  }

  static void check(const IntegerCase& problem) { check(kernel_table(GetParam()), problem); }
  static void check(const KernelTable& table, const IntegerCase& problem) {
    const Operands made = make(problem);
    const std::vector<std::byte> wanted = expected(problem, made);
    for (std::int64_t rows : {table.max_rows, std::int64_t{1}}) {
      EXPECT_TRUE(run(table, problem, made, rows) == wanted)
          << problem.m << "x" << problem.k << "x" << problem.n << ", " << problem.taps << " taps, "
          << (problem.a_signed ? "i8" : "u8") << " by " << (problem.b_signed ? "i8" : "u8")
          << ", output " << static_cast<int>(problem.output);
    }
  }
};

TEST_P(IntegerTiles, AreExactForAllShapes) {
  constexpr std::int64_t shapes[][3] = {{1, 1, 1},   {2, 2, 2},    {9, 9, 9},     {6, 13, 3},
                                        {15, 37, 7}, {81, 19, 41}, {3, 5, 7},     {0, 5, 7},
                                        {5, 0, 7},   {5, 7, 0},    {1, 200, 300}, {70, 130, 150}};
  for (const auto& shape : shapes) {
    for (int kinds = 0; kinds < 8; ++kinds) {
      check({shape[0], shape[1], shape[2], 1, (kinds & 1) != 0, (kinds & 2) != 0, (kinds & 4) != 0,
             (kinds & 4) == 0});
    }
  }
}

TEST_P(IntegerTiles, TakeEveryNumberOfRowsAndPanels) {
  const KernelTable& table = kernel_table(GetParam());
  for (std::int64_t m = 1; m <= table.max_rows; ++m) {
    for (std::int64_t panels = 1; panels <= 5; ++panels) {
      check({m, 6, panels * table.panel - panels % 2, 2, m % 2 == 0, panels % 2 == 0, true, true});
    }
  }
}

TEST_P(IntegerTiles, DoNotSaturate) {
  for (int kinds = 0; kinds < 4; ++kinds) {
    IntegerCase problem{13, 700, 35, 3, (kinds & 1) != 0, (kinds & 2) != 0, true, false};
    problem.extreme = true;
    check(problem);
  }
}

TEST_P(IntegerTiles, RequantiseRoundingHalvesToEven) {
  for (IntegerOutput output : {IntegerOutput::u8, IntegerOutput::i8, IntegerOutput::f32}) {
    check({37, 20, 45, 1, false, true, false, true, output});
    check({37, 20, 45, 9, true, false, true, true, output});
  }
}

#if defined(__x86_64__)
/// Target avx512 takes VNNI where the CPU has it: the other tile is checked beside it.
class IntegerTilesOfAvx512 : public IntegerTiles {};

TEST_P(IntegerTilesOfAvx512, ComputeTheSameWithoutVnni) {
  for (int kinds = 0; kinds < 4; ++kinds) {
    IntegerCase problem{21, 130, 77, 2, (kinds & 1) != 0, (kinds & 2) != 0, true, true};
    check(avx512_table(), problem);
    problem.extreme = true;
    check(avx512_table(), problem);
  }
}

TEST_P(IntegerTilesOfAvx512, HaveVnniWhereTheCpuHas) {
  if (__builtin_cpu_supports("avx512vnni") == 0) GTEST_SKIP() << "this CPU has no VNNI";
  EXPECT_EQ(kernel_table(Target::avx512).integer_tile, avx512_vnni_integer_tile());
}

INSTANTIATE_TEST_SUITE_P(Targets, IntegerTilesOfAvx512, testing::Values(Target::avx512),
                         target_test_name);
#endif

INSTANTIATE_TEST_SUITE_P(Targets, IntegerTiles, all_targets, target_test_name);

}  // namespace
}  // namespace plimsoll::tensor::kernels::test
