#include "plan/graph_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "memory/budget.h"
#include "tensor/plan/kernel_node.h"
#include "tensor/plan/lowering.h"
#include "tensor/run/execution.h"

namespace plimsoll::tensor::test {

std::vector<float> random_floats(std::int64_t count, std::uint32_t seed, float low, float high) {
  std::mt19937 engine(seed);
  std::vector<float> list(static_cast<std::size_t>(count));
  for (float& x : list) {
    x = low + (high - low) * static_cast<float>(engine() >> 8) / static_cast<float>(1 << 24);
  }
  return list;
}

ValueId GraphCase::input(const Shape& shape, float low, float high) {
  return input(tensor<float>(shape, random_floats(shape.elements(), seed_++, low, high)));
}

ValueId GraphCase::input(TensorPointer value) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.emplace_back();
  graph_.inputs.push_back(id);
  inputs_.emplace_back(std::shared_ptr<const OwnedTensor>(std::move(value)));
  return id;
}

ValueId GraphCase::weight(const Shape& shape, float low, float high) {
  return weight(tensor<float>(shape, random_floats(shape.elements(), seed_++, low, high)));
}

ValueId GraphCase::weight(const TensorPointer& value) {
  auto stored = std::make_shared<StoredTensor>();
  const ConstTensorView view = value->view();
  stored->name = "weight " + std::to_string(graph_.values.size());
  stored->type = view.type;
  stored->shape = view.shape;
  stored->storage.element = view.type;
  stored->source = SmallBytes(view.data, view.data + view.bytes());
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.emplace_back().stored = std::move(stored);
  return id;
}

ValueId GraphCase::node(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                        int opset) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.emplace_back();
  Node node;
  node.op_type = op;
  node.opset = opset == 0 ? opset_ : opset;
  node.inputs = std::move(inputs);
  node.outputs = {id};
  node.attributes = std::move(attributes);
  graph_.nodes.push_back(std::move(node));
  return id;
}

std::vector<ValueId> GraphCase::nodes(const std::string& op, std::vector<ValueId> inputs,
                                      std::size_t outputs, Attributes attributes) {
  std::vector<ValueId> results{node(op, std::move(inputs), std::move(attributes))};
  while (results.size() < outputs) {
    results.push_back(static_cast<ValueId>(graph_.values.size()));
    graph_.values.emplace_back();
  }
  graph_.nodes.back().outputs = results;
  return results;
}

Shape GraphCase::shape_of(ValueId input) const {
  const auto index = std::ranges::find(graph_.inputs, input) - graph_.inputs.begin();
  return std::get<std::shared_ptr<const OwnedTensor>>(inputs_[static_cast<std::size_t>(index)])
      ->view()
      .shape;
}

GraphCase::Result GraphCase::run(kernels::Target target, int threads) const {
  const auto budget = memory::Budget::root("test", memory::Budget::unlimited);
  WeightStore weights(budget);
  kernels::ThreadPool pool(threads);
  ExecutionServices services;
  services.operators = &OperatorTable::builtin();
  services.weights = &weights;
  services.budget = budget;
  services.threads = &pool;
  services.transform = [target](Program& program) { lower_program(program, target); };
  Execution execution(std::make_shared<const Graph>(graph_), std::move(services));
  for (std::size_t index = 0; index < inputs_.size(); ++index) {
    const auto& value = std::get<std::shared_ptr<const OwnedTensor>>(inputs_[index]);
    execution.set_input(index, {value->type, value->view().data, nullptr, false, value}, true);
  }
  const StagePlan& plan = execution.plan_first_stage();
  Result result;
  result.arena_bytes = plan.arena_bytes;
  StageOptions unplaced;
  unplaced.threads = threads;
  result.arena_bytes_unplaced = plan_stage(execution.program(), unplaced).arena_bytes;
  for (const PlannedStep& step : plan.steps) {
    const ProgramNode& node = execution.program().nodes[step.node];
    if (node.kernel != nullptr) {
      result.kernels.push_back(node.kernel->name);
    } else {
      result.kernels.push_back(node.definition->op_type);
    }
  }
  if (!execution.load() || !execution.run()) fail_internal("an unlimited budget refused");
  for (const ExecutionValue& output : execution.outputs()) {
    result.outputs.push_back(copy_of({output.type.element, output.type.shape, output.data}));
  }
  return result;
}

std::vector<std::string> GraphCase::lowered(kernels::Target target) const {
  return run(target, 1).kernels;
}

void GraphCase::expect_lowered(const std::vector<std::string>& kernels, Tolerance tolerance) const {
  compare(&kernels, tolerance);
}

void GraphCase::expect_results(Tolerance tolerance) const {
  compare(nullptr, tolerance);
}

void GraphCase::compare(const std::vector<std::string>* kernels, Tolerance tolerance) const {
  const std::vector<DynamicValue> expected = Interpreter().run(graph_, inputs_);
  for (const std::string& name : kernels::supported_targets()) {
    SCOPED_TRACE(name);
    const kernels::Target target = kernels::target_from_name(name);
    const Result one = run(target, 1);
    if (kernels != nullptr) {
      EXPECT_EQ(one.kernels, *kernels);
    }
    EXPECT_LE(one.arena_bytes, one.arena_bytes_unplaced);
    const Result two = run(target, 2);
    ASSERT_EQ(one.outputs.size(), expected.size());
    for (std::size_t index = 0; index < expected.size(); ++index) {
      const auto& wanted = std::get<std::shared_ptr<const OwnedTensor>>(expected[index]);
      EXPECT_EQ(difference(one.outputs[index]->view(), wanted->view(), tolerance), "")
          << "output " << index;
      const ConstTensorView a = one.outputs[index]->view();
      const ConstTensorView b = two.outputs[index]->view();
      EXPECT_EQ(std::memcmp(a.data, b.data, a.bytes()), 0) << "threads change output " << index;
    }
  }
}

}  // namespace plimsoll::tensor::test
