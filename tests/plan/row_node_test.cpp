// Softmax, layer normalisation and global averages: which forms get a kernel, and that they compute
// the same.
#include <gtest/gtest.h>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance rounding{.relative = 5e-6, .absolute = 5e-6};
using Integers = std::vector<std::int64_t>;

TEST(RowNode, SoftmaxOverTheLastAxis) {
  for (const std::int64_t axis : {-1, 2}) {
    GraphCase graph;
    graph.output(graph.node("Softmax", {graph.input({3, 5, 37}, -9, 9)}, {{"axis", axis}}));
    graph.expect_lowered({"Softmax"}, rounding);
  }
}

TEST(RowNode, SoftmaxBeforeOpset13IsOverAllThatFollows) {
  for (const std::int64_t axis : {0, 1, 2}) {
    GraphCase graph(11);
    graph.output(graph.node("Softmax", {graph.input({3, 5, 7}, -9, 9)}, {{"axis", axis}}));
    graph.expect_lowered({"Softmax"}, rounding);
  }
}

TEST(RowNode, SoftmaxOverAnotherAxisStays) {
  GraphCase graph;
  graph.output(graph.node("Softmax", {graph.input({3, 5, 7}, -9, 9)}, {{"axis", std::int64_t{1}}}));
  graph.expect_lowered({"Softmax"}, rounding);
}

TEST(RowNode, LayerNormalizationOverSeveralAxes) {
  for (const bool bias : {false, true}) {
    GraphCase graph;
    std::vector<ValueId> inputs{graph.input({4, 3, 10}, 5, 9), graph.weight({3, 10})};
    if (bias) inputs.push_back(graph.weight({3, 10}));
    graph.output(
        graph.node("LayerNormalization", inputs, {{"axis", std::int64_t{1}}, {"epsilon", 1e-3F}}));
    graph.expect_lowered({"LayerNormalization"}, rounding);
  }
}

TEST(RowNode, RowsOfAChannelsLastImageAreReadInTheGraphsOrder) {
  GraphCase graph;
  const ValueId x = graph.input({1, 3, 6, 5});
  const ValueId image = graph.node("Conv", {x, graph.weight({4, 3, 1, 1})});
  graph.output(graph.node("Softmax", {image}));
  graph.expect_lowered({"Transpose", "Conv", "Transpose", "Softmax"}, rounding);
}

TEST(RowNode, GlobalAverages) {
  for (const std::int64_t size : {1, 9, 60}) {
    GraphCase graph;
    const ValueId x = graph.input({2, 3, size, size + 1});
    const ValueId image = graph.node("Conv", {x, graph.weight({20, 3, 1, 1})});
    graph.output(graph.node("GlobalAveragePool", {image}));
    graph.expect_lowered({"Transpose", "Conv", "GlobalAveragePool", "Transpose"}, rounding);
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
