// Products and convolutions of bytes: exactly what the standard's definition says, on every target.
#include <gtest/gtest.h>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance exact{};
using Integers = std::vector<std::int64_t>;

template <typename T>
TensorPointer bytes(const Shape& shape, std::uint32_t seed) {
  std::vector<T> list(static_cast<std::size_t>(shape.elements()));
  for (T& x : list) {
    seed = seed * 1664525U + 1013904223U;
    x = static_cast<T>(seed >> 24U);
  }
  return tensor<T>(shape, list);
}

template <typename A, typename B>
void expect_matmul(const Shape& left, const Shape& right, bool per_column) {
  GraphCase graph;
  const std::int64_t zeros = per_column ? right[1] : 1;
  graph.output(graph.node("MatMulInteger",
                          {graph.input(bytes<A>(left, 1)), graph.weight(bytes<B>(right, 2)),
                           graph.weight(bytes<A>({}, 3)), graph.weight(bytes<B>({zeros}, 4))}));
  graph.expect_lowered({"MatMulInteger"}, exact);
}

TEST(IntegerProduct, MatMulOfAllTypes) {
  for (const bool per_column : {false, true}) {
    expect_matmul<std::uint8_t, std::int8_t>({2, 9, 37}, {37, 41}, per_column);
    expect_matmul<std::uint8_t, std::uint8_t>({30, 130}, {130, 7}, per_column);
    expect_matmul<std::int8_t, std::int8_t>({1, 1000}, {1000, 100}, per_column);
    expect_matmul<std::int8_t, std::uint8_t>({13, 3}, {3, 70}, per_column);
  }
}

TEST(IntegerProduct, MatMulWithoutZeroPointsAndOfOneVector) {
  GraphCase graph;
  graph.output(graph.node("MatMulInteger", {graph.input(bytes<std::uint8_t>({50}, 1)),
                                            graph.weight(bytes<std::int8_t>({50, 33}, 2))}));
  graph.expect_lowered({"MatMulInteger"}, exact);
}

TEST(IntegerProduct, AZeroPointMayBeComputed) {
  GraphCase graph;
  graph.output(graph.node("MatMulInteger", {graph.input(bytes<std::uint8_t>({5, 50}, 1)),
                                            graph.weight(bytes<std::int8_t>({50, 33}, 2)),
                                            graph.input(bytes<std::uint8_t>({}, 5))}));
  graph.expect_lowered({"MatMulInteger"}, exact);
}

TEST(IntegerProduct, ZeroPointsByRowStay) {
  GraphCase graph;
  graph.output(graph.node("MatMulInteger", {graph.input(bytes<std::uint8_t>({5, 50}, 1)),
                                            graph.weight(bytes<std::int8_t>({50, 33}, 2)),
                                            graph.weight(bytes<std::uint8_t>({5}, 5))}));
  graph.expect_lowered({"MatMulInteger"}, exact);
}

template <typename Y>
void expect_linear_matmul() {
  GraphCase graph;
  graph.output(graph.node(
      "QLinearMatMul",
      {graph.input(bytes<std::uint8_t>({21, 60}, 1)), graph.number(0.02F),
       graph.weight(bytes<std::uint8_t>({}, 3)), graph.weight(bytes<std::int8_t>({60, 35}, 2)),
       graph.weight({35}, 0.001F, 0.03F), graph.weight(bytes<std::int8_t>({35}, 4)),
       graph.number(0.7F), graph.weight(bytes<Y>({}, 6))}));
  graph.expect_lowered({"QLinearMatMul"}, exact);
}

TEST(IntegerProduct, QLinearMatMul) {
  expect_linear_matmul<std::uint8_t>();
  expect_linear_matmul<std::int8_t>();
}

struct Window {
  Shape image;
  Shape filter;
  Integers strides;
  Integers dilations;
  Integers pads;
};

const Window windows[] = {{{2, 5, 9, 11}, {18, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
                          {{1, 3, 12, 10}, {33, 3, 5, 2}, {2, 1}, {1, 3}, {4, 0, 1, 2}},
                          {{1, 64, 6, 6}, {20, 64, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}}};

TEST(IntegerProduct, ConvIntegerPadsWithTheZeroPoint) {
  for (const Window& window : windows) {
    GraphCase graph;
    graph.output(graph.node(
        "ConvInteger",
        {graph.input(bytes<std::uint8_t>(window.image, 1)),
         graph.weight(bytes<std::uint8_t>(window.filter, 2)),
         graph.weight(bytes<std::uint8_t>({}, 3)), graph.weight(bytes<std::uint8_t>({1}, 4))},
        {{"strides", window.strides}, {"dilations", window.dilations}, {"pads", window.pads}}));
    graph.expect_lowered({"Transpose", "ConvInteger", "Transpose"}, exact);
  }
}

TEST(IntegerProduct, QLinearConvWithBias) {
  for (const Window& window : windows) {
    const std::int64_t channels = window.filter[0];
    std::vector<std::int32_t> bias(static_cast<std::size_t>(channels));
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<std::int32_t>(i * 97) - 900;
    GraphCase graph;
    graph.output(graph.node(
        "QLinearConv",
        {graph.input(bytes<std::int8_t>(window.image, 1)), graph.number(0.02F),
         graph.weight(bytes<std::int8_t>({}, 3)),
         graph.weight(bytes<std::int8_t>(window.filter, 2)),
         graph.weight({channels}, 0.001F, 0.03F), graph.weight(bytes<std::int8_t>({channels}, 4)),
         graph.number(0.5F), graph.weight(bytes<std::int8_t>({}, 6)),
         graph.weight(tensor<std::int32_t>({channels}, bias))},
        {{"strides", window.strides}, {"dilations", window.dilations}, {"pads", window.pads}}));
    graph.expect_lowered({"Transpose", "QLinearConv", "Transpose"}, exact);
  }
}

TEST(IntegerProduct, SignalsAreImagesOfOneRow) {
  GraphCase graph;
  graph.output(graph.node(
      "ConvInteger",
      {graph.input(bytes<std::uint8_t>({2, 4, 30}, 1)),
       graph.weight(bytes<std::int8_t>({9, 4, 5}, 2)), graph.weight(bytes<std::uint8_t>({}, 3))},
      {{"pads", Integers{2, 2}}}));
  graph.expect_lowered({"Transpose", "ConvInteger", "Transpose"}, exact);
}

}  // namespace
}  // namespace plimsoll::tensor::test
