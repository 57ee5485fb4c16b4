// Streamed weights must change nothing but the memory: products of every kind, bit by bit against
// resident weights.
#include <gtest/gtest.h>

#include <random>

#include "execution_runner.h"
#include "image_network.h"
#include "support/onnx_writer.h"

namespace plimsoll::tensor::test {
namespace {

constexpr std::size_t all = SIZE_MAX;

std::vector<float> weights(std::int64_t count, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-0.1F, 0.1F);
  for (float& value : values) value = uniform(random);
  return values;
}

std::vector<std::int8_t> bytes(std::int64_t count) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(count));
  std::mt19937 random(3);
  for (auto& value : values) value = static_cast<std::int8_t>(random() % 255 - 127);
  return values;
}

/// x [7, 500] through products with weights of some MiB: more than one part each, and a width that
/// is no multiple of any panel.
std::string products() {
  constexpr std::int64_t k = 500;
  constexpr std::int64_t n = 1503;
  GraphWriter graph;
  graph.input("x", ElementType::f32, {7, k});
  graph.initializer(raw_tensor<float>("plain", {k, n}, weights(k * n, 1)));
  graph.initializer(raw_tensor<float>("turned", {n, n}, weights(n * n, 2)));
  graph.initializer(raw_tensor<float>("gemm", {k, n}, weights(k * n, 4)));
  graph.initializer(raw_tensor<float>("bias", {k}, weights(k, 5)));
  graph.initializer(raw_tensor<std::int8_t>("small", {k, n}, bytes(k * n)));
  graph.initializer(raw_tensor<float>("scale", {n}, weights(n, 6)));
  graph.node(NodeWriter("MatMul", {"x", "plain"}, {"a"}));
  graph.node(NodeWriter("Transpose", {"turned"}, {"t"}).integers("perm", {1, 0}));
  graph.node(NodeWriter("MatMul", {"a", "t"}, {"b"}));
  graph.node(NodeWriter("Add", {"b", "a"}, {"c"}));
  graph.node(NodeWriter("Gemm", {"c", "gemm", "bias"}, {"d"}).integer("transB", 1));
  graph.node(NodeWriter("Relu", {"d"}, {"e"}));
  graph.node(NodeWriter("DequantizeLinear", {"small", "scale"}, {"q"}).integer("axis", 1));
  graph.node(NodeWriter("MatMul", {"e", "q"}, {"f"}));
  graph.node(NodeWriter("MatMul", {"e", "plain"}, {"g"}));  // used twice
  graph.output("f", ElementType::f32, {7, n});
  graph.output("g", ElementType::f32, {7, n});
  return ModelWriter().graph(graph).bytes();
}

TEST(Streaming, ProductsGiveTheSameBits) {
  const std::string model = products();
  const Shape input{7, 500};
  const Outcome resident = run_with(model, input, {1 << 20, std::nullopt, 0});
  EXPECT_EQ(resident.streamed_bytes, 0U);
  for (std::uint64_t window : {4096U, 64U << 10, 1U << 20}) {
    for (int threads : {1, 3}) {
      SCOPED_TRACE(testing::Message() << "window " << window << ", threads " << threads);
      const Outcome streamed = run_with(model, input, {window, std::nullopt, all}, threads);
      EXPECT_GT(streamed.streamed_bytes, 15U << 20);
      // Parts of 1 MiB and some activations, not the weights.
      EXPECT_LT(streamed.arena_bytes, 2U << 20);
      EXPECT_TRUE(same_bits(resident, streamed));
    }
  }
}

TEST(Streaming, AnyNumberOfWeightsGivesTheSameBits) {
  const std::string model = products();
  const Shape input{7, 500};
  const Outcome resident = run_with(model, input, {1 << 20, std::nullopt, 0});
  std::uint64_t before = 0;
  for (std::size_t count = 1; count <= 4; ++count) {
    const Outcome some = run_with(model, input, {1 << 20, std::nullopt, count});
    EXPECT_GT(some.streamed_bytes, before);
    EXPECT_TRUE(same_bits(resident, some));
    before = some.streamed_bytes;
  }
}

TEST(Streaming, ConvolutionsInStripsGiveTheSameBits) {
  std::uint64_t streamed_bytes = 0;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    ImageNetwork network;
    network.seed = seed;
    network.nodes = 20;
    network.most_channels = 200;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::string model = image_network(network);
    const Shape input{network.batch, 4, network.height, network.width};
    const Outcome resident = run_with(model, input, {1 << 20, std::nullopt, 0});
    const Outcome streamed = run_with(model, input, {64 << 10, StripTarget{0, 0}, all});
    EXPECT_TRUE(same_bits(resident, streamed));
    streamed_bytes += streamed.streamed_bytes;
  }
  EXPECT_GT(streamed_bytes, 1U << 20);
}

}  // namespace
}  // namespace plimsoll::tensor::test
