// Products of two activations: shapes, strides, what joins them, and the same bits on any number of
// threads.
#include <gtest/gtest.h>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance sums{.relative = 1e-5, .absolute = 2e-5};
using Integers = std::vector<std::int64_t>;

void expect_product(const Shape& left, const Shape& right) {
  SCOPED_TRACE(left.to_string() + " times " + right.to_string());
  GraphCase graph;
  const ValueId a = graph.input(left);
  graph.output(graph.node("MatMul", {a, graph.input(right)}));
  graph.expect_lowered({"MatMul"}, sums);
}

TEST(ActivationProduct, Shapes) {
  expect_product({1, 1}, {1, 1});
  expect_product({13, 7}, {7, 5});
  expect_product({40, 33}, {33, 130});
  expect_product({2, 3, 9, 16}, {2, 3, 16, 17});
  // One of few rows and many columns, one of many rows and few columns.
  expect_product({2, 64}, {64, 700});
  expect_product({300, 20}, {20, 3});
}

TEST(ActivationProduct, BatchesAreRepeated) {
  expect_product({2, 1, 9, 16}, {3, 16, 17});
  expect_product({9, 16}, {4, 16, 17});
  expect_product({2, 3, 9, 16}, {16, 17});
  expect_product({5, 9, 16}, {1, 16, 17});
}

TEST(ActivationProduct, AColumnGroupIsBounded) {
  // 2,000 columns of depth 300 are 2.4 MB packed: several groups.
  expect_product({5, 300}, {300, 2000});
}

TEST(ActivationProduct, FactorsMayBeWeightsOfOtherForms) {
  GraphCase graph;
  const ValueId x = graph.input({4, 6, 10});
  const ValueId left = graph.node("MatMul", {graph.weight({12, 6}), x});
  graph.output(graph.node("MatMul", {left, graph.weight({4, 10, 9})}));
  graph.expect_lowered({"MatMul", "MatMul"}, sums);
}

TEST(ActivationProduct, GemmWithBiasAndScale) {
  GraphCase graph;
  const ValueId a = graph.input({9, 24});
  const ValueId b = graph.input({31, 24});
  graph.output(graph.node("Gemm", {a, b, graph.weight({31})},
                          {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", 2.0F}}));
  graph.expect_lowered({"Gemm"}, sums);
}

/// Heads of one projection: cut out of [2, length, 3·heads·width], split and transposed.
ValueId head(GraphCase& graph, ValueId projection, std::int64_t part, const Integers& order) {
  constexpr std::int64_t all = 4 * 8;
  const ValueId cut = graph.node(
      "Slice", {projection, graph.weight(integers({part * all})),
                graph.weight(integers({(part + 1) * all})), graph.weight(integers({-1}))});
  const ValueId split = graph.node("Reshape", {cut, graph.weight(integers({2, 11, 4, 8}))});
  return graph.node("Transpose", {split}, {{"perm", order}});
}

TEST(ActivationProduct, AttentionReadsAndWritesHeadsWhereTheyAre) {
  GraphCase graph;
  const ValueId projection = graph.input({2, 11, 96});
  const ValueId q = head(graph, projection, 0, {0, 2, 1, 3});
  const ValueId k = head(graph, projection, 1, {0, 2, 3, 1});
  const ValueId v = head(graph, projection, 2, {0, 2, 1, 3});
  const ValueId scores = graph.node("MatMul", {q, k});
  const ValueId scaled = graph.node("Div", {scores, graph.number(2.5F)});
  const ValueId masked = graph.node("Add", {scaled, graph.input({2, 1, 11, 11})});
  const ValueId shares = graph.node("Softmax", {masked});
  const ValueId mixed = graph.node("MatMul", {shares, v});
  const ValueId turned = graph.node("Transpose", {mixed}, {{"perm", Integers{0, 2, 1, 3}}});
  graph.output(graph.node("Reshape", {turned, graph.weight(integers({2, 11, 32}))}));
  graph.expect_lowered({"MatMul+Div+Add", "Softmax", "MatMul+Transpose"}, sums);
}

ValueId turned(GraphCase& graph, ValueId x, const Integers& order) {
  return graph.node("Transpose", {x}, {{"perm", order}});
}

TEST(ActivationProduct, AttentionOnPartsOfASplit) {
  GraphCase graph;
  const ValueId projection = graph.input({2, 11, 96});
  const std::vector<ValueId> parts = graph.nodes(
      "Split", {projection, graph.weight(integers({32, 32, 32}))}, 3, {{"axis", std::int64_t{-1}}});
  const ValueId heads = graph.weight(integers({2, 11, 4, 8}));
  const ValueId q = turned(graph, graph.node("Reshape", {parts[0], heads}), {0, 2, 1, 3});
  const ValueId k = turned(graph, graph.node("Reshape", {parts[1], heads}), {0, 2, 3, 1});
  const ValueId v = turned(graph, graph.node("Reshape", {parts[2], heads}), {0, 2, 1, 3});
  const ValueId shares = graph.node("Softmax", {graph.node("MatMul", {q, k})});
  graph.output(graph.node("MatMul", {shares, v}));
  graph.expect_lowered({"MatMul", "Softmax", "MatMul"}, sums);
}

TEST(ActivationProduct, APartOfASplitThatOthersReadIsMade) {
  GraphCase graph;
  const ValueId x = graph.input({11, 20});
  const std::vector<ValueId> parts =
      graph.nodes("Split", {x, graph.weight(integers({8, 12}))}, 2, {{"axis", std::int64_t{1}}});
  graph.output(graph.node("MatMul", {graph.input({3, 11}), parts[1]}));
  graph.output(graph.node("Softmax", {parts[0]}));
  // The product reads the part where it is in `x`, so that it may come first.
  graph.expect_lowered({"MatMul", "Split", "Softmax"}, sums);
}

TEST(ActivationProduct, AttentionOnGatheredPositions) {
  GraphCase graph;
  const ValueId projection = graph.input({2, 11, 96});
  const ValueId split =
      graph.node("Reshape", {projection, graph.weight(integers({2, 11, 3, 4, 8}))});
  const ValueId by_part = turned(graph, split, {2, 0, 3, 1, 4});
  const auto part = [&](std::int64_t index) {
    return graph.node("Gather", {by_part, graph.weight(scalar(index))},
                      {{"axis", std::int64_t{0}}});
  };
  const ValueId k = turned(graph, part(1), {0, 1, 3, 2});
  const ValueId shares = graph.node("Softmax", {graph.node("MatMul", {part(0), k})});
  graph.output(graph.node("MatMul", {shares, part(-1)}));
  graph.expect_lowered({"MatMul", "Softmax", "MatMul"}, sums);
}

TEST(ActivationProduct, AScaledFactorScalesTheProduct) {
  GraphCase graph;
  const ValueId x = graph.input({2, 3, 7, 8});
  const ValueId q = graph.node("Mul", {graph.number(0.25F), x});
  const ValueId k =
      graph.node("Transpose", {graph.input({2, 3, 9, 8})}, {{"perm", Integers{0, 1, 3, 2}}});
  graph.output(graph.node("MatMul", {q, k}));
  graph.expect_lowered({"MatMul"}, sums);
}

TEST(ActivationProduct, ALeftFactorWhoseColumnsLieApartIsCopied) {
  GraphCase graph;
  const ValueId left = graph.node("Transpose", {graph.input({16, 9})}, {{"perm", Integers{1, 0}}});
  graph.output(graph.node("MatMul", {left, graph.input({16, 5})}));
  graph.expect_lowered({"Transpose", "MatMul"}, sums);
}

TEST(ActivationProduct, WhatOthersReadIsStillMade) {
  GraphCase graph;
  const ValueId x = graph.input({9, 16});
  const ValueId turned = graph.node("Transpose", {x}, {{"perm", Integers{1, 0}}});
  const ValueId product = graph.node("MatMul", {graph.input({3, 16}), turned});
  graph.output(graph.node("Relu", {product}));
  graph.output(turned);
  graph.expect_lowered({"Transpose", "MatMul+Relu"}, sums);
}

TEST(ActivationProduct, AReversedSliceIsWalkedBackwards) {
  GraphCase graph;
  const ValueId reversed =
      graph.node("Slice", {graph.input({16, 9}), graph.weight(integers({-1, -1})),
                           graph.weight(integers({-100, -100})), graph.weight(integers({0, 1})),
                           graph.weight(integers({-1, -2}))});
  graph.output(graph.node("MatMul", {graph.input({3, 16}), reversed}));
  graph.expect_lowered({"MatMul"}, sums);
}

TEST(ActivationProduct, AReshapeThatStridesCannotTellIsCopied) {
  GraphCase graph;
  const ValueId turned =
      graph.node("Transpose", {graph.input({6, 4, 5})}, {{"perm", Integers{1, 0, 2}}});
  const ValueId merged = graph.node("Reshape", {turned, graph.weight(integers({24, 5}))});
  graph.output(graph.node("MatMul", {graph.input({3, 24}), merged}));
  graph.expect_lowered({"Transpose", "MatMul"}, sums);
}

TEST(ActivationProduct, ResidualOfASmallerShape) {
  for (const Shape& shape : {Shape{7, 9}, Shape{1, 9}, Shape{3, 1, 9}, Shape{2, 3, 7, 9}}) {
    GraphCase graph;
    const ValueId a = graph.input({2, 3, 7, 8});
    const ValueId product = graph.node("MatMul", {a, graph.input({2, 3, 8, 9})});
    graph.output(graph.node("Add", {graph.input(shape), product}));
    graph.expect_lowered({"MatMul+Add"}, sums);
  }
  GraphCase graph;
  const ValueId product = graph.node("MatMul", {graph.input({7, 8}), graph.input({8, 9})});
  graph.output(graph.node("Add", {product, graph.input({7, 1})}));
  graph.expect_lowered({"MatMul", "Add"}, sums);
}

}  // namespace
}  // namespace plimsoll::tensor::test
