// Nodes that join a kernel's epilogue, in the orders in which models have them.
#include <gtest/gtest.h>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance sums{.relative = 1e-5, .absolute = 2e-5};
using Integers = std::vector<std::int64_t>;

ValueId convolution(GraphCase& graph, ValueId x, const Shape& filter, std::int64_t groups = 1) {
  const std::int64_t pad = filter[2] / 2;
  return graph.node("Conv", {x, graph.weight(filter), graph.weight({filter[0]})},
                    {{"pads", Integers{pad, pad, pad, pad}}, {"group", groups}});
}

TEST(Epilogue, ConvolutionTakesWhatFollows) {
  GraphCase graph;
  const ValueId x = graph.input({1, 5, 9, 7});
  const ValueId scaled =
      graph.node("Mul", {convolution(graph, x, {20, 5, 3, 3}), graph.weight({1, 20, 1, 1})});
  const ValueId shifted = graph.node("Add", {graph.weight({20, 1, 1}), scaled});
  const ValueId summed = graph.node("Add", {shifted, graph.input({1, 20, 9, 7})});
  graph.output(graph.node("Relu", {summed}));
  graph.expect_lowered({"Transpose", "Transpose", "Conv+Mul+Add+Add+Relu", "Transpose"}, sums);
}

TEST(Epilogue, NumbersAfterHardSwishJoinIt) {
  for (const std::int64_t groups : {1, 6}) {
    GraphCase graph;
    const ValueId x = graph.input({2, 6, 9, 7});
    const ValueId swish =
        graph.node("HardSwish", {convolution(graph, x, {6, 6 / groups, 3, 3}, groups)});
    const ValueId scaled = graph.node("Mul", {graph.number(0.3F), swish});
    const ValueId shifted = graph.node("Add", {scaled, graph.number(-0.7F)});
    const ValueId halved = graph.node("Div", {shifted, graph.number(2)});
    graph.output(graph.node("Sub", {halved, graph.number(0.25F)}));
    const std::string kernel = groups == 1 ? "Conv" : "DepthwiseConv";
    graph.expect_lowered({"Transpose", kernel + "+HardSwish+Mul+Add+Div+Sub", "Transpose"}, sums);
  }
}

TEST(Epilogue, AVectorAfterHardSwishDoesNot) {
  GraphCase graph;
  const ValueId x = graph.input({5, 8});
  const ValueId product = graph.node("MatMul", {x, graph.weight({8, 20})});
  const ValueId swish = graph.node("HardSwish", {product});
  graph.output(graph.node("Mul", {swish, graph.weight({20})}));
  graph.expect_lowered({"MatMul+HardSwish", "Mul"}, sums);
}

TEST(Epilogue, TransposedConvolutionToOneChannelAndToSeveral) {
  for (const std::int64_t channels : {1, 3}) {
    GraphCase graph;
    const ValueId x = graph.input({2, 7, 5, 6});
    const ValueId sum = graph.node("ConvTranspose",
                                   {x, graph.weight({7, channels, 2, 3}), graph.weight({channels})},
                                   {{"strides", Integers{2, 3}}});
    const ValueId normal = graph.node("BatchNormalization",
                                      {sum, graph.weight({channels}), graph.weight({channels}),
                                       graph.weight({channels}), graph.weight({channels}, 1, 2)});
    const ValueId added = graph.node("Add", {normal, graph.input({2, channels, 10, 18})});
    graph.output(graph.node("Sigmoid", {added}));
    graph.expect_lowered(
        {"Transpose", "Transpose", "ConvTranspose+BatchNormalization+Add+Sigmoid", "Transpose"},
        sums);
  }
}

TEST(Epilogue, GroupedConvolution) {
  struct {
    std::int64_t groups;
    std::int64_t from;  ///< channels of a group
    std::int64_t to;
    std::int64_t kernel;
  } const cases[] = {{2, 3, 5, 3}, {4, 4, 4, 1}, {3, 20, 35, 3}, {6, 1, 3, 3}, {6, 1, 1, 33}};
  for (const auto& each : cases) {
    GraphCase graph;
    const std::int64_t columns = each.groups * each.to;
    const ValueId x = graph.input({2, each.groups * each.from, 9, 7});
    const ValueId sum =
        convolution(graph, x, {columns, each.from, each.kernel, each.kernel}, each.groups);
    const ValueId scaled = graph.node("Mul", {sum, graph.weight({1, columns, 1, 1})});
    const ValueId added = graph.node("Add", {scaled, graph.input({2, columns, 9, 7})});
    graph.output(graph.node("Relu", {added}));
    graph.expect_lowered({"Transpose", "Transpose", "GroupedConv+Mul+Add+Relu", "Transpose"}, sums);
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
