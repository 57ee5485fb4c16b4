// Kernels over one row: against sums in f64, for lengths around the vectors' sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/numbers.h"
#include "kernels/targets.h"
#include "tensor/kernels/table.h"

namespace plimsoll::tensor::kernels::test {
namespace {

class Rows : public TargetTest {
 protected:
  static std::vector<std::int64_t> lengths() {
    std::vector<std::int64_t> list(70);
    std::iota(list.begin(), list.end(), 1);
    list.insert(list.end(), {127, 128, 1000, 4099});
    return list;
  }
};

TEST_P(Rows, Softmax) {
  const auto softmax = kernel_table(GetParam()).softmax_row;
  for (const std::int64_t length : lengths()) {
    Numbers numbers(static_cast<std::uint32_t>(length));
    std::vector<float> x = numbers.reals(length);
    for (float& each : x) each = each * 20 + 300;
    const float largest = *std::ranges::max_element(x);
    double sum = 0;
    for (float each : x) sum += std::exp(double{each} - double{largest});
    std::vector<float> y(x.size() + 1, -7);
    softmax(x.data(), y.data(), length);
    EXPECT_EQ(y.back(), -7) << "beyond the row";
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(double{x[i]} - double{largest}) / sum;
      ASSERT_NEAR(y[i], expected, 1e-6 * expected + 1e-9) << length << " at " << i;
    }
    y.pop_back();
    softmax(x.data(), x.data(), length);
    EXPECT_EQ(x, y) << "in place";
  }
}

TEST_P(Rows, SoftmaxOfMaskedElementsIsZero) {
  const auto softmax = kernel_table(GetParam()).softmax_row;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t length : {std::int64_t{3}, std::int64_t{40}}) {
    std::vector<float> x(static_cast<std::size_t>(length), -infinity);
    x[1] = 2;
    softmax(x.data(), x.data(), length);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], i == 1 ? 1 : 0);
    x.assign(x.size(), -infinity);
    softmax(x.data(), x.data(), length);
    for (float each : x) EXPECT_TRUE(std::isnan(each));
    x.assign(x.size(), 1);
    x.back() = std::numeric_limits<float>::quiet_NaN();
    softmax(x.data(), x.data(), length);
    for (float each : x) EXPECT_TRUE(std::isnan(each));
  }
}

TEST_P(Rows, Normalize) {
  for (const std::int64_t length : lengths()) {
    Numbers numbers(static_cast<std::uint32_t>(length));
    std::vector<float> x = numbers.reals(length);
    for (float& each : x) each = each * 3 + 50;
    const std::vector<float> scale = numbers.reals(length);
    const std::vector<float> shift = numbers.reals(length);
    double mean = 0;
    for (float each : x) mean += each;
    mean /= static_cast<double>(length);
    double variance = 0;
    for (float each : x) variance += (each - mean) * (each - mean);
    variance /= static_cast<double>(length);
    for (const bool affine : {false, true}) {
      std::vector<float> y(x.size() + 1, -7);
      NormalizeTask task;
      task.input = x.data();
      task.output = y.data();
      task.count = length;
      if (affine) {
        task.scale = scale.data();
        task.shift = shift.data();
      }
      task.epsilon = 1e-3F;
      kernel_table(GetParam()).normalize_row(task);
      EXPECT_EQ(y.back(), -7) << "beyond the row";
      for (std::size_t i = 0; i < x.size(); ++i) {
        double expected = (x[i] - mean) / std::sqrt(variance + double{task.epsilon});
        if (affine) expected = expected * double{scale[i]} + double{shift[i]};
        ASSERT_NEAR(y[i], expected, 2e-5) << length << " at " << i;
      }
    }
  }
}

TEST_P(Rows, AddRows) {
  const auto add_rows = kernel_table(GetParam()).add_rows;
  for (const std::int64_t columns : {1, 3, 8, 16, 17, 40}) {
    for (const std::int64_t count : {0, 1, 2, 7, 64}) {
      const std::int64_t stride = columns + 5;
      Numbers numbers(static_cast<std::uint32_t>(columns));
      const std::vector<float> rows = numbers.wholes(count * stride + 1);
      std::vector<float> sums(static_cast<std::size_t>(columns) + 1, 100);
      add_rows(rows.data(), stride, count, columns, sums.data());
      EXPECT_EQ(sums.back(), 100) << "beyond the columns";
      for (std::int64_t c = 0; c < columns; ++c) {
        float expected = 100;
        for (std::int64_t r = 0; r < count; ++r) {
          expected += rows[static_cast<std::size_t>(r * stride + c)];
        }
        EXPECT_EQ(sums[static_cast<std::size_t>(c)], expected);
      }
    }
  }
}

TEST_P(Rows, CombineRows) {
  const KernelTable& table = kernel_table(GetParam());
  for (const std::int64_t columns : {1, 3, 8, 16, 17, 40}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{9}}) {
      Numbers numbers(static_cast<std::uint32_t>(columns));
      std::vector<std::vector<float>> rows;
      std::vector<const float*> pointers;
      for (std::size_t r = 0; r < count; ++r) rows.push_back(numbers.wholes(columns));
      for (const auto& row : rows) pointers.push_back(row.data());
      const std::vector<float> weights = numbers.wholes(static_cast<std::int64_t>(count));
      std::vector<float> sums(static_cast<std::size_t>(columns) + 1, 100);
      std::vector<float> largest = sums;
      table.weighted_rows(pointers.data(), weights.data(), static_cast<std::int64_t>(count),
                          columns, sums.data());
      table.largest_rows(pointers.data(), static_cast<std::int64_t>(count), columns,
                         largest.data());
      EXPECT_EQ(sums.back(), 100) << "beyond the columns";
      EXPECT_EQ(largest.back(), 100) << "beyond the columns";
      for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
        float sum = 0;
        float most = rows[0][c];
        for (std::size_t r = 0; r < count; ++r) {
          sum += weights[r] * rows[r][c];
          most = std::max(most, rows[r][c]);
        }
        EXPECT_EQ(sums[c], sum);
        EXPECT_EQ(largest[c], most);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Rows, all_targets, target_test_name);

}  // namespace
}  // namespace plimsoll::tensor::kernels::test
