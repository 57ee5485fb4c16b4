// Strips must change nothing but the memory: random networks, bit by bit against whole images, and
// whole images against the interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "execution_runner.h"
#include "image_network.h"
#include "support/interpreter.h"

namespace plimsoll::tensor::test {
namespace {

Shape input_of(const ImageNetwork& network) {
  return {network.batch, 4, network.height, network.width};
}

Outcome run(const ImageNetwork& network, std::optional<StripTarget> strips, int threads) {
  return run_with(image_network(network), input_of(network), {1 << 20, strips, 0}, threads);
}

class Strips : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Strips, RandomNetworksGiveTheSameBits) {
  for (std::uint32_t part = 0; part < 10; ++part) {
    ImageNetwork network;
    network.seed = GetParam() * 100 + part;
    network.nodes = 6 + static_cast<int>(part) * 3;
    network.batch = 1 + part % 3;
    network.height = 17 + part * 5;
    network.width = 40 - part * 3;
    SCOPED_TRACE(testing::Message() << "seed " << network.seed);
    const Outcome whole = run(network, std::nullopt, 1);
    const Outcome least = run(network, StripTarget{0, 0}, 1);
    const Outcome tall = run(network, StripTarget{0, 0.3}, 2);
    EXPECT_EQ(whole.groups, 0U);
    EXPECT_LE(least.arena_bytes, whole.arena_bytes);
    EXPECT_TRUE(same_bits(whole, least));
    EXPECT_TRUE(same_bits(whole, tall));
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Strips, testing::Range(1U, 9U));

TEST(Networks, StripsNeedLess) {
  std::uint64_t whole_bytes = 0;
  std::uint64_t strip_bytes = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const ImageNetwork network{seed, 16, 1, 80, 40};
    whole_bytes += run(network, std::nullopt, 1).arena_bytes;
    strip_bytes += run(network, StripTarget{0, 0}, 1).arena_bytes;
  }
  EXPECT_LT(strip_bytes * 10, whole_bytes * 9);
}

TEST(Networks, PlannedRunsAgreeWithTheInterpreter) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    ImageNetwork network;
    network.seed = seed;
    network.batch = 1 + seed % 2;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Outcome planned = run(network, StripTarget{0, 0}, 1);
    const std::vector<float> input = random_floats(input_of(network).elements());
    Interpreter interpreter;
    const ConstTensorView view{ElementType::f32, input_of(network),
                               reinterpret_cast<const std::byte*>(input.data())};
    const auto expected = interpreter.run(*graph_of(image_network(network)),
                                          {std::shared_ptr<const OwnedTensor>(copy_of(view))});
    ASSERT_EQ(expected.size(), planned.outputs.size());
    for (std::size_t index = 0; index < expected.size(); ++index) {
      const auto& tensor = *std::get<std::shared_ptr<const OwnedTensor>>(expected[index]);
      const auto* values = reinterpret_cast<const float*>(tensor.data());
      float scale = 1e-3F;
      float worst = 0;
      for (std::size_t i = 0; i < planned.outputs[index].size(); ++i) {
        scale = std::max(scale, std::abs(values[i]));
        worst = std::max(worst, std::abs(values[i] - planned.outputs[index][i]));
      }
      EXPECT_LE(worst, 2e-5F * scale);
    }
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
