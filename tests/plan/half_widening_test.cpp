// Graphs of 16-bit floats: computed by the f32 kernels, given and taken in 16 bits.
#include <gtest/gtest.h>

#include "plan/graph_case.h"
#include "tensor/graph/half.h"

namespace plimsoll::tensor::test {
namespace {

using Integers = std::vector<std::int64_t>;

template <typename T>
TensorPointer random_halves(const Shape& shape, std::uint32_t seed) {
  std::vector<T> list;
  for (float x : random_floats(shape.elements(), seed, -1, 1)) list.push_back(store<T>(x));
  return tensor<T>(shape, list);
}

template <typename T>
class HalfWidening : public testing::Test {
 protected:
  /// A step of the type at 1, some roundings of it.
  static constexpr Tolerance rounding = std::is_same_v<T, Float16>
                                            ? Tolerance{.relative = 4e-3, .absolute = 4e-3}
                                            : Tolerance{.relative = 3e-2, .absolute = 3e-2};
};
using Halves = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(HalfWidening, Halves);

TYPED_TEST(HalfWidening, ProductWithItsEpilogue) {
  GraphCase graph;
  const ValueId x = graph.input(random_halves<TypeParam>({5, 24}, 1));
  const ValueId product =
      graph.node("MatMul", {x, graph.weight(random_halves<TypeParam>({24, 40}, 2))});
  const ValueId shifted =
      graph.node("Add", {product, graph.weight(random_halves<TypeParam>({40}, 3))});
  graph.output(graph.node("Relu", {shifted}));
  graph.expect_lowered({"Cast", "MatMul+Add+Relu", "Cast"}, this->rounding);
}

TYPED_TEST(HalfWidening, NetworkOfImages) {
  GraphCase graph;
  const ValueId x = graph.input(random_halves<TypeParam>({1, 3, 9, 8}, 1));
  const ValueId first =
      graph.node("Conv", {x, graph.weight(random_halves<TypeParam>({8, 3, 3, 3}, 2)),
                          graph.weight(random_halves<TypeParam>({8}, 3))});
  const ValueId depthwise =
      graph.node("Conv", {first, graph.weight(random_halves<TypeParam>({8, 1, 3, 3}, 4))},
                 {{"group", std::int64_t{8}}});
  const ValueId both = graph.node("Concat", {depthwise, depthwise}, {{"axis", std::int64_t{1}}});
  const ValueId pooled = graph.node("GlobalAveragePool", {both});
  graph.output(graph.node("Reshape", {pooled, graph.weight(integers({1, 16}))}));
  graph.expect_lowered({"Cast", "Transpose", "Conv", "DepthwiseConv", "Concat", "GlobalAveragePool",
                        "Transpose", "Cast"},
                       this->rounding);
}

TYPED_TEST(HalfWidening, CastsThatTheModelHasStay) {
  GraphCase graph;
  const ValueId x = graph.input({4, 16});
  constexpr auto type = static_cast<std::int64_t>(element_of<TypeParam>);
  const ValueId narrow = graph.node("Cast", {x}, {{"to", type}});
  const ValueId product =
      graph.node("MatMul", {narrow, graph.weight(random_halves<TypeParam>({16, 20}, 2))});
  const ValueId wide = graph.node("Cast", {product}, {{"to", std::int64_t{1}}});
  graph.output(graph.node("Softmax", {wide}));
  graph.output(graph.node("Transpose", {narrow}, {{"perm", Integers{1, 0}}}));
  graph.expect_lowered({"Cast", "Cast", "MatMul", "Softmax", "Transpose", "Cast"}, this->rounding);
}

TYPED_TEST(HalfWidening, NothingToMultiplyNothingToWiden) {
  GraphCase graph;
  const ValueId x = graph.input(random_halves<TypeParam>({4, 16}, 1));
  graph.output(graph.node("Relu", {graph.node("Add", {x, x})}));
  graph.expect_lowered({"Add", "Relu"}, this->rounding);
}

}  // namespace
}  // namespace plimsoll::tensor::test
