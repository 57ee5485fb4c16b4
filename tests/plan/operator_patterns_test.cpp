// Operators spelled in pieces become one, and compute the same.
#include <gtest/gtest.h>

#include <cmath>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance rounding{.relative = 2e-6, .absolute = 2e-6};

/// clip(x + 3, 0, 6)
ValueId clipped(GraphCase& graph, ValueId x, float shift = 3) {
  const ValueId sum = graph.node("Add", {x, graph.number(shift)});
  return graph.node("Clip", {sum, graph.number(0), graph.number(6)});
}

TEST(OperatorPatterns, HardSwishDividedAtTheEnd) {
  GraphCase graph;
  const ValueId x = graph.input({3, 50}, -6, 6);
  const ValueId product = graph.node("Mul", {x, clipped(graph, x)});
  graph.output(graph.node("Div", {product, graph.number(6)}));
  graph.expect_lowered({"HardSwish"}, rounding);
}

TEST(OperatorPatterns, HardSwishFromHardSigmoid) {
  GraphCase graph;
  const ValueId x = graph.input({3, 50}, -6, 6);
  const ValueId sigmoid = graph.node("HardSigmoid", {x}, {{"alpha", 0.16666667F}, {"beta", 0.5F}});
  graph.output(graph.node("Mul", {sigmoid, x}));
  graph.expect_lowered({"HardSwish"}, rounding);
}

TEST(OperatorPatterns, HardSwishFromScaledClip) {
  GraphCase graph;
  const ValueId x = graph.input({3, 50}, -6, 6);
  const ValueId sigmoid = graph.node("Mul", {graph.number(1.0F / 6), clipped(graph, x)});
  graph.output(graph.node("Mul", {x, sigmoid}));
  graph.expect_lowered({"HardSwish"}, rounding);
}

TEST(OperatorPatterns, OtherNumbersAreNoHardSwish) {
  GraphCase graph;
  const ValueId x = graph.input({3, 50}, -6, 6);
  const ValueId product = graph.node("Mul", {x, clipped(graph, x, 2.5F)});
  graph.output(graph.node("Div", {product, graph.number(6)}));
  graph.expect_lowered({"Add+Clip+Mul+Div"}, rounding);
}

TEST(OperatorPatterns, APieceThatSomebodyElseReadsStays) {
  GraphCase graph;
  const ValueId x = graph.input({3, 50}, -6, 6);
  const ValueId clip = clipped(graph, x);
  const ValueId product = graph.node("Mul", {x, clip});
  graph.output(graph.node("Div", {product, graph.number(6)}));
  graph.output(clip);
  graph.expect_lowered({"Add+Clip", "Mul+Div"}, rounding);
}

TEST(OperatorPatterns, ABroadcastFactorIsNoHardSwish) {
  GraphCase graph;
  const ValueId x = graph.input({1, 50}, -6, 6);
  const ValueId y = graph.input({3, 50}, -6, 6);
  const ValueId product = graph.node("Mul", {y, clipped(graph, x)});
  graph.output(graph.node("Div", {product, graph.number(6)}));
  graph.expect_lowered({"Add+Clip", "Mul+Div"}, rounding);
}

TEST(OperatorPatterns, Swish) {
  GraphCase graph;
  const ValueId x = graph.input({3, 50}, -9, 9);
  const ValueId same = graph.node("Mul", {x, graph.number(1)});
  graph.output(graph.node("Mul", {x, graph.node("Sigmoid", {same})}));
  graph.expect_lowered({"Swish"}, rounding);
}

ValueId one_plus_erf(GraphCase& graph, ValueId x) {
  const ValueId part = graph.node("Div", {x, graph.number(1.4142135F)});
  return graph.node("Add", {graph.node("Erf", {part}), graph.number(1)});
}

TEST(OperatorPatterns, GeluHalvedAtTheEnd) {
  GraphCase graph;
  const ValueId x = graph.input({3, 50}, -5, 5);
  const ValueId product = graph.node("Mul", {x, one_plus_erf(graph, x)});
  graph.output(graph.node("Mul", {product, graph.number(0.5F)}));
  graph.expect_lowered({"Gelu"}, rounding);
}

TEST(OperatorPatterns, GeluHalvedAtTheStart) {
  GraphCase graph;
  const ValueId x = graph.input({3, 50}, -5, 5);
  const ValueId half = graph.node("Mul", {x, graph.number(0.5F)});
  graph.output(graph.node("Mul", {half, one_plus_erf(graph, x)}));
  graph.expect_lowered({"Gelu"}, rounding);
}

TEST(OperatorPatterns, GeluBecomesTheEpilogueOfAProduct) {
  GraphCase graph;
  const ValueId input = graph.input({5, 24});
  const ValueId product = graph.node("MatMul", {input, graph.weight({24, 40})});
  const ValueId x = graph.node("Add", {product, graph.weight({40})});
  const ValueId gelu = graph.node("Mul", {x, one_plus_erf(graph, x)});
  graph.output(graph.node("Mul", {gelu, graph.number(0.5F)}));
  graph.expect_lowered({"MatMul+Add+Gelu"}, {.relative = 1e-5, .absolute = 1e-5});
}

TEST(OperatorPatterns, GeluByTanh) {
  for (const bool power : {true, false}) {
    GraphCase graph;
    const ValueId x = graph.input({3, 50}, -5, 5);
    const ValueId cube = power ? graph.node("Pow", {x, graph.number(3)})
                               : graph.node("Mul", {graph.node("Mul", {x, x}), x});
    const ValueId term = graph.node("Mul", {graph.number(0.044715F), cube});
    const ValueId argument =
        graph.node("Mul", {graph.node("Add", {x, term}), graph.number(0.79788456F)});
    const ValueId sum = graph.node("Add", {graph.node("Tanh", {argument}), graph.number(1)});
    graph.output(graph.node("Mul", {graph.node("Mul", {graph.number(0.5F), x}), sum}));
    graph.expect_lowered({"Gelu"}, {.relative = 1e-5, .absolute = 1e-5});
  }
}

/// (x − mean)/√(variance + ε) in the spelling of opset 17; `power`: squares as Pow, else as Mul.
ValueId normalized(GraphCase& graph, ValueId x, bool power) {
  const std::vector<std::int64_t> last{-1};
  const ValueId mean = graph.node("ReduceMean", {x}, {{"axes", last}});
  const ValueId deviation = graph.node("Sub", {x, mean});
  const ValueId square = power ? graph.node("Pow", {deviation, graph.number(2)})
                               : graph.node("Mul", {deviation, deviation});
  const ValueId variance = graph.node("ReduceMean", {square}, {{"axes", last}});
  const ValueId sum = graph.node("Add", {variance, graph.number(1e-5F)});
  return graph.node("Div", {deviation, graph.node("Sqrt", {sum})});
}

TEST(OperatorPatterns, LayerNormalization) {
  for (const bool power : {true, false}) {
    GraphCase graph;
    const ValueId x = graph.input({2, 7, 60}, -1, 9);
    const ValueId product = graph.node("Mul", {normalized(graph, x, power), graph.weight({60})});
    graph.output(graph.node("Add", {graph.weight({60}), product}));
    graph.expect_lowered({"LayerNormalization"}, {.relative = 1e-5, .absolute = 1e-5});
  }
}

TEST(OperatorPatterns, LayerNormalizationWithoutBias) {
  GraphCase graph;
  const ValueId x = graph.input({2, 7, 60}, -1, 9);
  graph.output(graph.node("Mul", {graph.weight({60}), normalized(graph, x, true)}));
  graph.expect_lowered({"LayerNormalization"}, {.relative = 1e-5, .absolute = 1e-5});
}

TEST(OperatorPatterns, ANormalizationWhoseDeviationIsReadStays) {
  GraphCase graph;
  const ValueId x = graph.input({2, 60}, -1, 9);
  const ValueId normal = normalized(graph, x, true);
  graph.output(graph.node("Mul", {graph.weight({60}), normal}));
  graph.output(normal);
  EXPECT_EQ(graph.lowered(kernels::best_target()).size(), 8U);
}

}  // namespace
}  // namespace plimsoll::tensor::test
