// Weights of bytes under a DequantizeLinear: packed as bytes, scaled in the epilogue.
#include <gtest/gtest.h>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance sums{.relative = 2e-5, .absolute = 1e-4};
using Integers = std::vector<std::int64_t>;

template <typename T>
TensorPointer bytes(const Shape& shape, std::uint32_t seed) {
  std::vector<T> list;
  for (float x : random_floats(shape.elements(), seed, -127, 127)) {
    list.push_back(static_cast<T>(static_cast<int>(x) + (std::is_signed_v<T> ? 0 : 128)));
  }
  return tensor<T>(shape, list);
}

/// `count`: scales and zero points, 1 for one of all; `zero_points` 0: none are given.
template <typename T>
ValueId dequantized(GraphCase& graph, const Shape& shape, std::int64_t axis, bool each,
                    bool zero_points) {
  const Shape list = each ? Shape{shape[static_cast<std::size_t>(axis)]} : Shape{};
  std::vector<ValueId> inputs{graph.weight(bytes<T>(shape, 5)), graph.weight(list, 0.001F, 0.01F)};
  if (zero_points) inputs.push_back(graph.weight(bytes<T>(list, 6)));
  return graph.node("DequantizeLinear", inputs, {{"axis", axis}});
}

template <typename T>
class QuantizedWeight : public testing::Test {};
using Bytes = testing::Types<std::int8_t, std::uint8_t>;
TYPED_TEST_SUITE(QuantizedWeight, Bytes);

TYPED_TEST(QuantizedWeight, Products) {
  for (const bool each : {false, true}) {
    for (const bool zero_points : {false, true}) {
      GraphCase graph;
      const ValueId x = graph.input({7, 40});
      const ValueId first =
          graph.node("MatMul", {x, dequantized<TypeParam>(graph, {40, 35}, 1, each, zero_points)});
      const ValueId second = graph.node(
          "Gemm",
          {graph.node("Add", {first, graph.weight({35})}),
           dequantized<TypeParam>(graph, {20, 35}, 0, each, zero_points), graph.weight({20})},
          {{"transB", std::int64_t{1}}, {"alpha", 0.5F}});
      graph.output(second);
      graph.expect_lowered({"MatMul+Add", "Gemm"}, sums);
    }
  }
}

TYPED_TEST(QuantizedWeight, Convolutions) {
  for (const bool each : {false, true}) {
    for (const bool zero_points : {false, true}) {
      GraphCase graph;
      const ValueId x = graph.input({1, 6, 9, 8});
      const ValueId first =
          graph.node("Conv",
                     {x, dequantized<TypeParam>(graph, {20, 6, 3, 3}, 0, each, zero_points),
                      graph.weight({20})},
                     {{"pads", Integers{1, 1, 1, 1}}});
      const ValueId grouped =
          graph.node("Conv",
                     {graph.node("Relu", {first}),
                      dequantized<TypeParam>(graph, {10, 4, 1, 1}, 0, each, zero_points)},
                     {{"group", std::int64_t{5}}});
      graph.output(
          graph.node("ConvTranspose",
                     {grouped, dequantized<TypeParam>(graph, {10, 3, 2, 2}, 1, each, zero_points)},
                     {{"strides", Integers{2, 2}}}));
      graph.expect_lowered({"Transpose", "Conv+Relu", "GroupedConv", "ConvTranspose", "Transpose"},
                           sums);
    }
  }
}

TYPED_TEST(QuantizedWeight, DepthwiseConvolution) {
  GraphCase graph;
  const ValueId x = graph.input({1, 20, 9, 8});
  graph.output(graph.node("Conv", {x, dequantized<TypeParam>(graph, {20, 1, 3, 3}, 0, true, false)},
                          {{"group", std::int64_t{20}}}));
  graph.expect_lowered({"Transpose", "DepthwiseConv", "Transpose"}, sums);
}

TYPED_TEST(QuantizedWeight, ScalesAlongTheDepthAreNotTheEpilogues) {
  GraphCase graph;
  const ValueId x = graph.input({7, 40});
  graph.output(graph.node("MatMul", {x, dequantized<TypeParam>(graph, {40, 35}, 0, true, true)}));
  graph.expect_lowered({"DequantizeLinear", "MatMul"}, sums);
}

TYPED_TEST(QuantizedWeight, TwoProductsOfOneWeight) {
  GraphCase graph;
  const ValueId w = dequantized<TypeParam>(graph, {40, 35}, 1, true, true);
  graph.output(graph.node("MatMul", {graph.input({7, 40}), w}));
  graph.output(graph.node("MatMul", {graph.input({2, 40}), w}));
  graph.expect_lowered({"MatMul", "MatMul"}, sums);
}

}  // namespace
}  // namespace plimsoll::tensor::test
