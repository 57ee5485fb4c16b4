// Strips must change nothing but the memory: random networks, bit by bit against whole images, and
// whole images against the interpreter.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "image_network.h"
#include "support/interpreter.h"
#include "tensor/import/onnx.h"
#include "tensor/kernels/target.h"
#include "tensor/plan/lowering.h"
#include "tensor/run/execution.h"

namespace plimsoll::tensor::test {
namespace {

struct Outcome {
  std::vector<std::vector<float>> outputs;
  std::uint64_t arena_bytes = 0;
  std::size_t groups = 0;
};

std::vector<float> input_of(const ImageNetwork& network) {
  std::vector<float> values(
      static_cast<std::size_t>(network.batch * 4 * network.height * network.width));
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : values) value = uniform(random);
  return values;
}

std::shared_ptr<const Graph> graph_of(const ImageNetwork& network) {
  const std::string bytes = image_network(network);
  const auto model = import_onnx_bytes("network", std::as_bytes(std::span(bytes)));
  return {model, &model->main};
}

class Runner {
 public:
  Runner(const ImageNetwork& network, std::optional<StripTarget> strips, int threads)
      : input_(input_of(network)),
        budget_(memory::Budget::root("test", memory::Budget::unlimited)),
        weights_(budget_->child("weights")),
        threads_(threads) {
    ExecutionServices services;
    services.operators = &OperatorTable::builtin();
    services.weights = &weights_;
    services.budget = budget_;
    services.threads = &threads_;

    const auto target = kernels::target_from_name(kernels::choose_target(""));
    services.transform = [target](Program& program) { lower_program(program, target); };
    execution_ = std::make_unique<Execution>(graph_of(network), services);
    execution_->choose({1 << 20, strips, 0});
    ExecutionValue value;
    value.type = {ElementType::f32, {network.batch, 4, network.height, network.width}};
    value.data = reinterpret_cast<const std::byte*>(input_.data());
    execution_->set_input(0, value, true);
  }

  Outcome run() {
    Outcome outcome;
    outcome.arena_bytes = execution_->plan_first_stage().arena_bytes;
    outcome.groups = execution_->plan_first_stage().groups.size();
    const auto ran = execution_->run();
    EXPECT_TRUE(ran.has_value());
    for (const ExecutionValue& value : execution_->outputs()) {
      const auto* data = reinterpret_cast<const float*>(value.data);
      outcome.outputs.emplace_back(data, data + value.type.shape.elements());
    }
    return outcome;
  }

 private:
  std::vector<float> input_;
  std::shared_ptr<memory::Budget> budget_;
  WeightStore weights_;
  kernels::ThreadPool threads_;
  std::unique_ptr<Execution> execution_;
};

bool same_bits(const Outcome& a, const Outcome& b) {
  if (a.outputs.size() != b.outputs.size()) return false;
  for (std::size_t index = 0; index < a.outputs.size(); ++index) {
    if (a.outputs[index].size() != b.outputs[index].size() ||
        std::memcmp(a.outputs[index].data(), b.outputs[index].data(),
                    a.outputs[index].size() * sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
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
    const Outcome whole = Runner(network, std::nullopt, 1).run();
    const Outcome least = Runner(network, StripTarget{0, 0}, 1).run();
    const Outcome tall = Runner(network, StripTarget{0, 0.3}, 2).run();
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
    whole_bytes += Runner(network, std::nullopt, 1).run().arena_bytes;
    strip_bytes += Runner(network, StripTarget{0, 0}, 1).run().arena_bytes;
  }
  EXPECT_LT(strip_bytes * 10, whole_bytes * 9);
}

TEST(Networks, PlannedRunsAgreeWithTheInterpreter) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    ImageNetwork network;
    network.seed = seed;
    network.batch = 1 + seed % 2;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Outcome planned = Runner(network, StripTarget{0, 0}, 1).run();
    const std::vector<float> input = input_of(network);
    Interpreter interpreter;
    const ConstTensorView view{ElementType::f32,
                               {network.batch, 4, network.height, network.width},
                               reinterpret_cast<const std::byte*>(input.data())};
    const auto expected =
        interpreter.run(*graph_of(network), {std::shared_ptr<const OwnedTensor>(copy_of(view))});
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
