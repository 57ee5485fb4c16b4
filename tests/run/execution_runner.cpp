#include "execution_runner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tensor/import/onnx.h"
#include "tensor/kernels/target.h"
#include "tensor/plan/lowering.h"

namespace plimsoll::tensor::test {

std::shared_ptr<const Graph> graph_of(const std::string& onnx) {
  const auto model = import_onnx_bytes("generated model", std::as_bytes(std::span(onnx)));
  return {model, &model->main};
}

std::vector<float> random_floats(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : values) value = uniform(random);
  return values;
}

Outcome run_with(const std::string& onnx, const Shape& input, const PlanChoice& choice,
                 int threads) {
  const std::vector<float> values = random_floats(input.elements());
  const auto budget = memory::Budget::root("test", memory::Budget::unlimited);
  WeightStore weights(budget->child("weights"));
  kernels::ThreadPool pool(threads);
  ExecutionServices services;
  services.operators = &OperatorTable::builtin();
  services.weights = &weights;
  services.budget = budget;
  services.threads = &pool;
  const auto target = kernels::target_from_name(kernels::choose_target(""));
  services.transform = [target](Program& program) { lower_program(program, target); };
  Execution execution(graph_of(onnx), services);
  ExecutionValue value;
  value.type = {ElementType::f32, input};
  value.data = reinterpret_cast<const std::byte*>(values.data());
  execution.set_input(0, value, true);
  execution.choose(choice);

  Outcome outcome;
  const StagePlan& plan = execution.plan_first_stage();
  outcome.arena_bytes = plan.arena_bytes;
  outcome.groups = plan.groups.size();
  outcome.streamed_bytes = plan.streamed_bytes;
  EXPECT_TRUE(execution.run().has_value());
  for (const ExecutionValue& output : execution.outputs()) {
    const auto* data = reinterpret_cast<const float*>(output.data);
    outcome.outputs.emplace_back(data, data + output.type.shape.elements());
  }
  return outcome;
}

bool same_bits(const Outcome& a, const Outcome& b) {
  if (a.outputs.size() != b.outputs.size()) return false;
  for (std::size_t index = 0; index < a.outputs.size(); ++index) {
    const std::vector<float>& x = a.outputs[index];
    const std::vector<float>& y = b.outputs[index];
    if (x.size() != y.size() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace plimsoll::tensor::test
