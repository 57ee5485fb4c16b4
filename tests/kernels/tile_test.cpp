// The tile of every form against plain loops. Small whole numbers make every sum exact, so results
// are compared to the bit; forms that the CPU lacks are skipped by name.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tensor/kernels/packing.h"
#include "tensor/kernels/table.h"
#include "tensor/kernels/thread_pool.h"

namespace plimsoll::tensor::kernels {
namespace {

class EveryTarget : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    if (!target_supported(GetParam())) {
      GTEST_SKIP() << "this CPU cannot run " << target_name(GetParam());
    }
  }
};

std::vector<float> whole_numbers(std::size_t count, std::mt19937& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
  return values;
}

std::vector<float> product(const KernelTable& table, std::int64_t m, std::int64_t k, std::int64_t n,
                           const std::vector<float>& a, const std::vector<float>& b,
                           std::int64_t rows_at_once, const Epilogue& epilogue = {}) {
  const PanelLayout layout{k, n, table.panel, sizeof(float)};
  std::vector<float> packed(layout.bytes() / sizeof(float), 0.0F);
  for (std::int64_t row = 0; row < k; ++row) {
    for (std::int64_t column = 0; column < n; ++column) {
      packed[static_cast<std::size_t>(layout.element(row, column))] =
          b[static_cast<std::size_t>(row * n + column)];
    }
  }
  std::vector<float> c(static_cast<std::size_t>(m * n) + 8, -77.0F);
  for (std::int64_t first = 0; first < m; first += rows_at_once) {
    std::vector<const float*> rows;
    std::vector<float*> outputs;
    for (std::int64_t row = first; row < std::min(m, first + rows_at_once); ++row) {
      rows.push_back(a.data() + row * k);
      outputs.push_back(c.data() + row * n);
    }
    TileTask task;
    task.rows = rows.data();
    task.count = static_cast<std::int64_t>(rows.size());
    task.depth = k;
    task.panels = packed.data();
    task.columns = n;
    task.last_panel = layout.panels();
    task.outputs = outputs.data();
    task.epilogue = epilogue;
    table.tile(task);
  }
  for (std::size_t guard = static_cast<std::size_t>(m * n); guard < c.size(); ++guard) {
    EXPECT_EQ(c[guard], -77.0F) << "written behind the result";
  }
  c.resize(static_cast<std::size_t>(m * n));
  return c;
}

TEST_P(EveryTarget, ProductsAreExact) {
  const KernelTable& table = kernel_table(GetParam());
  std::mt19937 random(3);
  const std::int64_t shapes[][3] = {{1, 1, 1},     {2, 2, 2},     {4, 4, 4},   {8, 8, 8},
                                    {9, 9, 9},     {6, 13, 3},    {15, 37, 7}, {81, 19, 41},
                                    {45, 330, 52}, {1, 100, 100}, {3, 0, 5},   {12, 5, 129}};
  for (const auto& [m, k, n] : shapes) {
    const auto a = whole_numbers(static_cast<std::size_t>(m * k), random);
    const auto b = whole_numbers(static_cast<std::size_t>(k * n), random);
    std::vector<float> expected(static_cast<std::size_t>(m * n), 0.0F);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t x = 0; x < k; ++x) {
          expected[static_cast<std::size_t>(i * n + j)] +=
              a[static_cast<std::size_t>(i * k + x)] * b[static_cast<std::size_t>(x * n + j)];
        }
      }
    }
    const auto c = product(table, m, k, n, a, b, table.max_rows);
    EXPECT_EQ(0, std::memcmp(c.data(), expected.data(), expected.size() * sizeof(float)))
        << m << "×" << k << "×" << n;
  }
}

TEST_P(EveryTarget, RowsPerTileDoNotChangeResults) {
  const KernelTable& table = kernel_table(GetParam());
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> a(29 * 71);
  std::vector<float> b(71 * 67);
  for (float& x : a) x = uniform(random);
  for (float& x : b) x = uniform(random);
  const auto reference = product(table, 29, 71, 67, a, b, table.max_rows);
  for (std::int64_t rows = 1; rows < table.max_rows; ++rows) {
    const auto other = product(table, 29, 71, 67, a, b, rows);
    EXPECT_EQ(0, std::memcmp(reference.data(), other.data(), other.size() * sizeof(float)))
        << rows << " rows at once";
  }
}

TEST_P(EveryTarget, EpilogueScalesShiftsAndClips) {
  const KernelTable& table = kernel_table(GetParam());
  const std::vector<float> a{1, 2, 3};
  std::vector<float> b(3 * 21);
  std::vector<float> scale(21);
  std::vector<float> shift(21);
  for (std::size_t j = 0; j < 21; ++j) {
    for (std::size_t k = 0; k < 3; ++k) b[k * 21 + j] = static_cast<float>(j) - 10;
    scale[j] = 2;
    shift[j] = static_cast<float>(j);
  }
  Epilogue epilogue{scale.data(), shift.data(), Activation::clip, 0, 30, false};
  const auto c = product(table, 1, 3, 21, a, b, 1, epilogue);
  for (std::size_t j = 0; j < 21; ++j) {
    const float sum = 6 * (static_cast<float>(j) - 10) * 2 + static_cast<float>(j);
    EXPECT_EQ(c[j], std::min(std::max(sum, 0.0F), 30.0F)) << j;
  }
}

TEST(Targets, The512BitFormIsTheSameOnTwo256BitVectors) {
  if (!target_supported(Target::avx512)) GTEST_SKIP() << "this CPU has no AVX-512";
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> a(25 * 131);
  std::vector<float> b(131 * 85);
  for (float& x : a) x = uniform(random);
  for (float& x : b) x = uniform(random);
  const auto native = product(kernel_table(Target::avx512), 25, 131, 85, a, b, 12);
  const auto split = product(kernel_table(Target::avx512_on_256), 25, 131, 85, a, b, 12);
  EXPECT_EQ(0, std::memcmp(native.data(), split.data(), native.size() * sizeof(float)));
}

INSTANTIATE_TEST_SUITE_P(All, EveryTarget,
                         testing::Values(Target::generic, Target::avx2, Target::avx512,
                                         Target::avx512_on_256),
                         [](const auto& target) {
                           std::string name(target_name(target.param));
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(ThreadPool, EveryIndexOnceOnAnyNumberOfThreads) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (std::int64_t count : {0, 1, 7, 1000}) {
      std::vector<int> seen(static_cast<std::size_t>(count), 0);
      pool.parallel_for(count, 3, [&](std::int64_t begin, std::int64_t end, int thread) {
        EXPECT_LT(thread, threads);
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      for (int times : seen) EXPECT_EQ(times, 1);
    }
  }
}

}  // namespace
}  // namespace plimsoll::tensor::kernels
