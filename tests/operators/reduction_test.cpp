// Reductions over every set of axes, against sums in f64 over coordinates.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "support/compare.h"
#include "support/single_node.h"

namespace plimsoll::tensor::test {
namespace {

struct Reference {
  double sum = 0;
  double absolute = 0;
  double square = 0;
  double product = 1;
  double largest = -INFINITY;
  double smallest = INFINITY;
  double power = 0;  // Σ e^x; the values are small
  double count = 0;

  void add(double x) {
    sum += x;
    absolute += std::fabs(x);
    square += x * x;
    product *= x;
    largest = std::max(largest, x);
    smallest = std::min(smallest, x);
    power += std::exp(x);
    count += 1;
  }
  [[nodiscard]] double result(const std::string& op) const {
    if (op == "ReduceSum") return sum;
    if (op == "ReduceMean") return sum / count;
    if (op == "ReduceL1") return absolute;
    if (op == "ReduceL2") return std::sqrt(square);
    if (op == "ReduceSumSquare") return square;
    if (op == "ReduceProd") return product;
    if (op == "ReduceMax") return largest;
    if (op == "ReduceMin") return smallest;
    if (op == "ReduceLogSum") return std::log(sum);
    return std::log(power);
  }
};

const std::vector<std::string> reductions{
    "ReduceSum",  "ReduceMean", "ReduceL1",  "ReduceL2",     "ReduceSumSquare",
    "ReduceProd", "ReduceMax",  "ReduceMin", "ReduceLogSum", "ReduceLogSumExp"};

template <typename T>
void check(const std::string& op, const Shape& shape, unsigned axes_bits, bool keep,
           double relative) {
  std::mt19937 random(7);
  std::vector<T> values(static_cast<std::size_t>(shape.elements()));
  for (T& value : values) value = store<T>(0.5F + static_cast<float>(random() % 64) / 64.0F);
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> expected_shape;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if ((axes_bits >> axis & 1U) != 0) {
      // Counted from the end every other time.
      const auto at = static_cast<std::int64_t>(axis);
      axes.push_back(axis % 2 == 0 ? at : at - static_cast<std::int64_t>(shape.rank()));
      if (keep) expected_shape.push_back(1);
    } else {
      expected_shape.push_back(shape[axis]);
    }
  }
  std::map<std::int64_t, Reference> references;
  for (std::int64_t index = 0; index < shape.elements(); ++index) {
    std::int64_t target = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      if ((axes_bits >> axis & 1U) != 0) continue;
      target = target * shape[axis] + index / shape.product(axis + 1, shape.rank()) % shape[axis];
    }
    references[target].add(static_cast<double>(load(values[static_cast<std::size_t>(index)])));
  }
  const auto run = [&](int opset, int threads) {
    SingleNode node(op, opset);
    node.attribute("keepdims", std::int64_t{keep}).input(tensor<T>(shape, values));
    if (opset >= 18) {
      node.input(integers(axes));
    } else {
      node.attribute("axes", axes);
    }
    return node.run_tensor(0, {.threads = threads, .in_place = false});
  };
  // Old form and new form; with another number of threads the same bytes.
  const auto old_form = run(11, 1);
  const auto new_form = run(18, 3);
  ASSERT_EQ(old_form->type.shape, Shape(expected_shape)) << op;
  ASSERT_EQ(difference(new_form->view(), old_form->view(), {}), "") << op;
  for (std::int64_t index = 0; index < old_form->type.shape.elements(); ++index) {
    const double expected = references[index].result(op);
    ASSERT_NEAR(element_as_double(old_form->view(), index), expected,
                relative * std::max(1.0, std::fabs(expected)))
        << op << " of " << shape.to_string() << " axes " << axes_bits;
  }
}

TEST(Reduction, EverySetOfAxes) {
  for (const std::string& op : reductions) {
    for (const Shape& shape : {Shape{7}, Shape{3, 40}, Shape{2, 3, 300}, Shape{3, 1, 5, 4}}) {
      for (unsigned axes = 1; axes < 1U << shape.rank(); ++axes) {
        if (op == "ReduceProd" && shape.elements() > 1000) continue;  // beyond any range
        check<float>(op, shape, axes, axes % 2 == 0, 2e-5);
        check<double>(op, shape, axes, true, 1e-12);
      }
    }
    check<Float16>(op, {3, 5, 4}, 5, true, 2e-3);
    check<BFloat16>(op, {3, 5, 4}, 2, true, 1e-2);
  }
}

TEST(Reduction, LongRunsStayAccurate) {
  const std::vector<float> values(1'000'000, 0.1F);
  const auto mean = SingleNode("ReduceMean", 18)
                        .attribute("keepdims", std::int64_t{0})
                        .input(vector_of(values))
                        .run_tensor();
  EXPECT_NEAR(values_of<float>(*mean)[0], 0.1F, 2e-6F);
  const auto columns = SingleNode("ReduceMean", 18)
                           .input(tensor<float>({500'000, 2}, values))
                           .input(integers({0}))
                           .run_tensor();
  EXPECT_NEAR(values_of<float>(*columns)[1], 0.1F, 2e-6F);
}

TEST(Reduction, AxesThatAreNotGiven) {
  const auto input = tensor<std::int32_t>({2, 2}, {1, -2, 3, 4});
  EXPECT_EQ(values_of<std::int32_t>(*SingleNode("ReduceSum", 13).input(input).run_tensor()),
            std::vector<std::int32_t>{6});
  EXPECT_EQ(values_of<std::int32_t>(*SingleNode("ReduceSum", 13)
                                         .attribute("noop_with_empty_axes", std::int64_t{1})
                                         .input(input)
                                         .input(integers({}))
                                         .run_tensor()),
            (std::vector<std::int32_t>{1, -2, 3, 4}));
}

TEST(Reduction, EmptyInputs) {
  const auto empty = tensor<float>({2, 0, 3}, {});
  const auto sum = SingleNode("ReduceSum", 13).input(empty).input(integers({1})).run_tensor();
  EXPECT_EQ(values_of<float>(*sum), std::vector<float>(6, 0.0F));
  const auto largest = SingleNode("ReduceMax", 18).input(empty).input(integers({1})).run_tensor();
  EXPECT_EQ(values_of<float>(*largest), std::vector<float>(6, -INFINITY));
  const auto nothing = SingleNode("ReduceSum", 13).input(empty).input(integers({0})).run_tensor();
  EXPECT_EQ(nothing->type.shape, (Shape{1, 0, 3}));
  const auto integers_mean =
      SingleNode("ReduceMean", 18).input(tensor<std::int64_t>({0}, {})).run_tensor();
  EXPECT_EQ(values_of<std::int64_t>(*integers_mean), std::vector<std::int64_t>{0});
}

TEST(Reduction, NotANumberIsKept) {
  const auto input = vector_of<float>({1.0F, NAN, 3.0F});
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum"}) {
    const auto result = SingleNode(op, 11).input(input).run_tensor();
    EXPECT_TRUE(std::isnan(values_of<float>(*result)[0])) << op;
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
