// Convolutions on the packed kernels: strips and single taps, edges, images smaller than the
// window, several images, residuals.
#include <gtest/gtest.h>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

// Sums of up to 1,000 products of size 1, in another order.
constexpr Tolerance rounding{.relative = 2e-5, .absolute = 2e-4};
using Integers = std::vector<std::int64_t>;

struct Window {
  Shape image;
  std::int64_t channels = 1;  ///< of the output
  Integers kernel;
  Integers strides{1, 1};
  Integers dilations{1, 1};
  Integers pads{0, 0, 0, 0};
};

void expect_convolution(const Window& window, bool residual) {
  GraphCase graph;
  const ValueId x = graph.input(window.image);
  const ValueId w =
      graph.weight({window.channels, window.image[1], window.kernel[0], window.kernel[1]});
  const ValueId y = graph.node("Conv", {x, w, graph.weight({window.channels})},
                               {{"kernel_shape", window.kernel},
                                {"strides", window.strides},
                                {"dilations", window.dilations},
                                {"pads", window.pads}});
  if (residual) {
    const ValueId z =
        graph.node("Relu", {graph.node("Add", {y, graph.node("Conv", {x, w},
                                                             {{"strides", window.strides},
                                                              {"dilations", window.dilations},
                                                              {"pads", window.pads}})})});
    graph.output(z);
    graph.expect_lowered({"Transpose", "Conv", "Conv+Add+Relu", "Transpose"}, rounding);
    return;
  }
  graph.output(y);
  graph.expect_lowered({"Transpose", "Conv", "Transpose"}, rounding);
}

TEST(Convolution, OfAllWindows) {
  // 3·3 and 5·40 floats of a kernel's row make strips, 3·100 do not; nor do dilated ones.
  const Window windows[] = {{{1, 3, 17, 19}, 20, {3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}},
                            {{2, 40, 9, 13}, 33, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},
                            {{1, 100, 6, 11}, 17, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
                            {{1, 7, 20, 21}, 16, {3, 3}, {1, 1}, {5, 5}, {5, 5, 5, 5}},
                            {{3, 24, 5, 5}, 24, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
                            {{1, 24, 8, 9}, 40, {1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
                            {{2, 5, 2, 2}, 6, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
                            {{1, 4, 1, 40}, 50, {1, 7}, {1, 3}, {1, 1}, {0, 3, 0, 3}},
                            {{1, 4, 12, 3}, 9, {5, 2}, {2, 1}, {2, 1}, {4, 0, 3, 1}},
                            {{1, 2, 3, 3}, 3, {3, 3}, {1, 1}, {1, 1}, {4, 4, 4, 4}}};
  for (const Window& window : windows) {
    for (const bool residual : {false, true}) {
      SCOPED_TRACE(testing::Message() << window.image[1] << " channels, kernel " << window.kernel[0]
                                      << "x" << window.kernel[1] << ", residual " << residual);
      expect_convolution(window, residual);
    }
  }
}

TEST(Convolution, TransposedTapsAreProductsOfTheirOwn) {
  for (const std::int64_t kernel : {2, 3}) {
    GraphCase graph;
    const ValueId x = graph.input({2, 24, 5, 7});
    graph.output(graph.node("ConvTranspose",
                            {x, graph.weight({24, 18, kernel, 2}), graph.weight({18})},
                            {{"strides", Integers{kernel, 2}}}));
    graph.expect_lowered({"Transpose", "ConvTranspose", "Transpose"}, rounding);
  }
}

TEST(Convolution, DepthwiseOfAllWindows) {
  for (const std::int64_t kernel : {3, 5}) {
    for (const std::int64_t stride : {1, 2}) {
      for (const std::int64_t channels : {8, 24, 50}) {
        GraphCase graph;
        const ValueId x = graph.input({2, channels, 9, 14});
        graph.output(graph.node(
            "Conv", {x, graph.weight({channels, 1, kernel, kernel}), graph.weight({channels})},
            {{"group", channels},
             {"strides", Integers{stride, stride}},
             {"pads", Integers(4, kernel / 2)}}));
        graph.expect_lowered({"Transpose", "DepthwiseConv", "Transpose"}, rounding);
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
