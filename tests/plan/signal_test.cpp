// Convolutions of signals, N×C×L: images of one row to the kernels.
#include <gtest/gtest.h>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance sums{.relative = 1e-5, .absolute = 3e-5};
using Integers = std::vector<std::int64_t>;

TEST(Signal, ConvolutionWithItsEpilogue) {
  GraphCase graph;
  const ValueId x = graph.input({2, 5, 30});
  const ValueId sum =
      graph.node("Conv", {x, graph.weight({20, 5, 3}), graph.weight({20})},
                 {{"pads", Integers{1, 2}}, {"strides", Integers{2}}, {"dilations", Integers{2}}});
  const ValueId scaled = graph.node("Mul", {sum, graph.weight({1, 20, 1})});
  const ValueId shifted = graph.node("Add", {graph.weight({20, 1}), scaled});
  graph.output(graph.node("Relu", {shifted}));
  graph.expect_lowered({"Transpose", "Conv+Mul+Add+Relu", "Transpose"}, sums);
}

TEST(Signal, StridesLikeAFourierTransforms) {
  GraphCase graph;
  const ValueId x = graph.input({1, 1, 576});
  graph.output(graph.node("Conv", {x, graph.weight({258, 1, 256})}, {{"strides", Integers{128}}}));
  graph.expect_lowered({"Transpose", "Conv", "Transpose"}, {.relative = 1e-5, .absolute = 2e-4});
}

TEST(Signal, ChannelsStayLastBetweenConvolutions) {
  GraphCase graph;
  const ValueId x = graph.input({1, 6, 25});
  const ValueId first = graph.node("Conv", {x, graph.weight({8, 6, 3})});
  const ValueId gate = graph.node("Sigmoid", {graph.node("Mul", {first, first})});
  const ValueId padded = graph.node("Pad", {gate, graph.weight(integers({0, 0, 2, 0, 0, 1}))});
  const ValueId depthwise =
      graph.node("Conv", {padded, graph.weight({8, 1, 4})}, {{"group", std::int64_t{8}}});
  const ValueId cut =
      graph.node("Slice", {depthwise, graph.weight(integers({1})), graph.weight(integers({20})),
                           graph.weight(integers({-1}))});
  const ValueId both = graph.node("Concat", {cut, cut}, {{"axis", std::int64_t{1}}});
  const ValueId last = graph.node("Conv", {both, graph.weight({3, 16, 1})});
  graph.output(graph.node("Add", {last, graph.weight({1, 3, 1})}));
  graph.expect_lowered({"Transpose", "Conv", "Mul+Sigmoid", "DepthwiseConv", "Slice", "Concat",
                        "Conv+Add", "Transpose"},
                       sums);
}

TEST(Signal, ElementwiseOperatorsWithConstantsOfAnyShape) {
  for (const Shape& shape : {Shape{}, Shape{19}, Shape{8, 1}, Shape{8, 19}, Shape{1, 8, 1}}) {
    GraphCase graph;
    const ValueId x = graph.input({2, 6, 21});
    const ValueId sum = graph.node("Conv", {x, graph.weight({8, 6, 3})});
    graph.output(graph.node("Max", {sum, graph.weight(shape)}));
    graph.expect_lowered({"Transpose", "Conv", "Max", "Transpose"}, sums);
  }
}

TEST(Signal, TransposedConvolution) {
  GraphCase graph;
  const ValueId x = graph.input({2, 5, 9});
  graph.output(graph.node("ConvTranspose", {x, graph.weight({5, 7, 3}), graph.weight({7})},
                          {{"strides", Integers{3}}}));
  graph.expect_lowered({"Transpose", "ConvTranspose", "Transpose"}, sums);
}

TEST(Signal, AResidualIsTurnedToo) {
  GraphCase graph;
  const ValueId x = graph.input({2, 8, 21});
  const ValueId sum = graph.node("Conv", {x, graph.weight({8, 8, 3})}, {{"pads", Integers{1, 1}}});
  graph.output(graph.node("Add", {x, sum}));
  graph.expect_lowered({"Transpose", "Conv+Add", "Transpose"}, sums);
}

}  // namespace
}  // namespace plimsoll::tensor::test
