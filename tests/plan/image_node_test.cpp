// Poolings and resizes of channels-last images against their references.
#include <gtest/gtest.h>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance sums{.relative = 1e-5, .absolute = 3e-5};
using Integers = std::vector<std::int64_t>;

/// The operator between two convolutions, so that its image is channels-last.
void expect_kernel(const std::string& op, const GraphCase::Attributes& attributes,
                   const Shape& shape = {2, 3, 11, 13}, int opset = 17) {
  GraphCase graph(opset);
  const ValueId image = graph.node("Conv", {graph.input(shape), graph.weight({20, 3, 1, 1})});
  graph.output(graph.node(op, {image}, attributes));
  graph.expect_lowered({"Transpose", "Conv", op, "Transpose"}, sums);
}

TEST(ImageNode, Poolings) {
  for (const std::string op : {"MaxPool", "AveragePool"}) {
    expect_kernel(op, {{"kernel_shape", Integers{2, 2}}, {"strides", Integers{2, 2}}});
    expect_kernel(op, {{"kernel_shape", Integers{3, 5}}, {"pads", Integers{1, 2, 1, 2}}});
    expect_kernel(op, {{"kernel_shape", Integers{3, 3}},
                       {"pads", Integers{2, 0, 0, 1}},
                       {"strides", Integers{3, 2}},
                       {"ceil_mode", std::int64_t{1}}});
    // More pixels than are combined at once.
    expect_kernel(op, {{"kernel_shape", Integers{10, 12}}});
  }
  expect_kernel("MaxPool", {{"kernel_shape", Integers{3, 2}},
                            {"pads", Integers{2, 2, 2, 2}},
                            {"dilations", Integers{2, 3}}});
  expect_kernel("AveragePool", {{"kernel_shape", Integers{3, 3}},
                                {"pads", Integers{1, 1, 1, 1}},
                                {"count_include_pad", std::int64_t{1}}});
}

TEST(ImageNode, Resizes) {
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    for (const std::string transformation :
         {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}) {
      SCOPED_TRACE(mode + " " + transformation);
      GraphCase graph;
      const ValueId image =
          graph.node("Conv", {graph.input({2, 3, 6, 7}), graph.weight({20, 3, 1, 1})});
      const ValueId scales = graph.weight(vector_of<float>({1, 1, 2, 1.5F}));
      graph.output(
          graph.node("Resize", {image, no_value, scales},
                     {{"mode", mode}, {"coordinate_transformation_mode", transformation}}));
      graph.expect_lowered({"Transpose", "Conv", "Resize", "Transpose"}, sums);
    }
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
