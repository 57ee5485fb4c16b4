// Chains of elementwise operators: what joins them, broadcasting of every form, rows in rings.
#include "tensor/plan/elementwise_node.h"

#include <gtest/gtest.h>

#include <cstring>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance rounding{.relative = 2e-6, .absolute = 2e-6};
using Integers = std::vector<std::int64_t>;

TEST(Elementwise, ShapesOfEveryForm) {
  struct {
    Shape a;
    Shape b;
  } const cases[] = {{{}, {}},
                     {{1}, {7}},
                     {{5000}, {5000}},
                     {{3, 5}, {5}},
                     {{3, 5}, {3, 1}},
                     {{3, 1}, {1, 5}},
                     {{2, 3, 4, 5}, {4, 1}},
                     {{2, 1, 4, 1}, {3, 1, 5}},
                     {{2, 1, 40, 50}, {2, 6, 1, 50}},
                     {{4, 3000}, {4, 1}},
                     {{2, 3000}, {3000}},
                     {{7, 11, 13}, {11, 13}},
                     {{1, 300, 9}, {9}},
                     {{2, 3, 1, 1, 5, 4}, {1, 2, 1, 4}}};
  for (const auto& each : cases) {
    for (const std::string op : {"Add", "Sub", "Mul", "Div"}) {
      SCOPED_TRACE(op + " of " + each.a.to_string() + " and " + each.b.to_string());
      GraphCase graph;
      const ValueId a = graph.input(each.a);
      graph.output(graph.node(op, {a, graph.input(each.b, 1, 3)}));
      graph.expect_lowered({op}, rounding);
    }
  }
}

TEST(Elementwise, EveryActivation) {
  for (const std::string op :
       {"Relu", "LeakyRelu", "HardSigmoid", "HardSwish", "Sigmoid", "Clip"}) {
    GraphCase graph;
    std::vector<ValueId> inputs{graph.input({3, 700}, -8, 8)};
    if (op == "Clip") inputs.insert(inputs.end(), {graph.number(-1), graph.number(2)});
    graph.output(graph.node(op, inputs));
    graph.expect_lowered({op}, rounding);
  }
}

TEST(Elementwise, AChainIsOnePass) {
  GraphCase graph;
  const ValueId x = graph.input({3, 700});
  const ValueId y = graph.input({700});
  const ValueId left = graph.node("Mul", {graph.node("Sub", {x, y}), graph.number(0.5F)});
  const ValueId right = graph.node("Sigmoid", {graph.node("Add", {y, x})});
  const ValueId both = graph.node("Div", {left, right});
  graph.output(graph.node("Pow", {both, graph.number(2)}));
  graph.expect_lowered({"Sub+Mul+Add+Sigmoid+Div+Pow"}, rounding);
}

TEST(Elementwise, AChainOfMoreInputsThanItTakesIsCut) {
  GraphCase graph;
  ValueId sum = graph.input({40, 9});
  for (int count = 0; count < 5; ++count) sum = graph.node("Add", {sum, graph.input({40, 9})});
  graph.output(sum);
  graph.expect_lowered({"Add+Add+Add", "Add+Add"}, rounding);
}

TEST(Elementwise, AChainOfMoreStepsThanItTakesIsCut) {
  GraphCase graph;
  ValueId x = graph.input({40, 9});
  for (int count = 0; count < 14; ++count) x = graph.node("Add", {x, graph.number(1)});
  graph.output(x);
  const std::vector<std::string> kernels = graph.lowered(kernels::best_target());
  EXPECT_EQ(kernels.size(), 2U);
  graph.expect_lowered(kernels, rounding);
}

TEST(Elementwise, AResultThatOthersReadIsMade) {
  GraphCase graph;
  const ValueId x = graph.input({40, 9});
  const ValueId sum = graph.node("Add", {x, graph.input({9})});
  graph.output(graph.node("Relu", {sum}));
  graph.output(graph.node("Softmax", {sum}));
  graph.expect_lowered({"Add", "Relu", "Softmax"}, rounding);
}

TEST(Elementwise, TheSameValueTwice) {
  GraphCase graph;
  const ValueId x = graph.input({40, 9});
  const ValueId sum = graph.node("Add", {x, x});
  graph.output(graph.node("Mul", {sum, x}));
  graph.expect_lowered({"Add+Mul"}, rounding);
}

TEST(Elementwise, ABroadcastResultIsNoStepOfALargerOne) {
  GraphCase graph;
  const ValueId row = graph.node("Add", {graph.input({9}), graph.input({9})});
  graph.output(graph.node("Mul", {graph.input({40, 9}), row}));
  graph.expect_lowered({"Add", "Mul"}, rounding);
}

TEST(Elementwise, SqueezeAndExcite) {
  GraphCase graph;
  const ValueId x = graph.node("Conv", {graph.input({2, 3, 9, 7}), graph.weight({24, 3, 1, 1})});
  const ValueId mean = graph.node("GlobalAveragePool", {x});
  const ValueId gate =
      graph.node("HardSigmoid", {graph.node("Conv", {mean, graph.weight({24, 24, 1, 1})})});
  graph.output(graph.node("Add", {x, graph.node("Mul", {x, gate})}));
  graph.expect_lowered(
      {"Transpose", "Conv", "GlobalAveragePool", "Conv+HardSigmoid", "Mul+Add", "Transpose"},
      {.relative = 1e-5, .absolute = 1e-5});
}

/// Rows 2 to 6 of an output of 9, from operands of which one is kept in a ring of 5 rows.
TEST(Elementwise, RowsInRings) {
  constexpr std::int64_t height = 9;
  constexpr std::int64_t width = 6;
  constexpr std::int64_t channels = 5;
  constexpr std::int64_t line = width * channels;
  constexpr std::int64_t ring_rows = 5;
  const Shape shape{1, height, width, channels};
  const std::vector<float> x = random_floats(height * line, 1);
  const std::vector<float> gate = random_floats(channels, 2);
  std::vector<float> ring(static_cast<std::size_t>(ring_rows * line), -7);
  for (std::int64_t y = 2; y < 7; ++y) {
    std::copy_n(x.data() + y * line, line, ring.data() + y % ring_rows * line);
  }
  const auto operand = [](const Shape& own, const std::vector<float>& data, std::int64_t rows) {
    auto* bytes = reinterpret_cast<std::byte*>(const_cast<float*>(data.data()));  // NOLINT
    return KernelOperand{{ElementType::f32, own}, bytes, rows};
  };
  for (const std::string& name : kernels::supported_targets()) {
    ElementwiseNode node;
    node.target = kernels::target_from_name(name);
    ElementwiseStep step;
    step.operation = kernels::MapOperation::multiply;
    step.a = {StepOperand::Kind::input, 0, 0};
    step.b = {StepOperand::Kind::input, 1, 0};
    node.steps = {step};
    node.has_rows = {true, false};
    EXPECT_EQ(node.input_rows(0, {2, 7}), (RowRange{2, 7}));
    EXPECT_EQ(node.input_rows(1, {2, 7}), std::nullopt);
    kernels::ThreadPool threads(2);
    std::vector<std::byte> scratch(node.scratch_bytes(2));
    std::vector<float> whole(x.size(), -7);
    std::vector<float> part(x.size(), -7);
    const KernelOperand inputs[] = {operand(shape, x, 0), operand({1, 1, 1, channels}, gate, 0)};
    const KernelOperand rung[] = {operand(shape, ring, ring_rows), inputs[1]};
    const KernelOperand all[] = {operand(shape, whole, 0)};
    const KernelOperand some[] = {operand(shape, part, 0)};
    node.run({inputs, all, scratch, threads});
    node.run_rows({rung, some, scratch, threads}, {2, 7});
    EXPECT_EQ(std::memcmp(whole.data() + 2 * line, part.data() + 2 * line, 5 * line * 4), 0);
    EXPECT_EQ(part[2 * line - 1], -7);
    EXPECT_EQ(part[7 * line], -7);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(whole[i], x[i] * gate[i % channels]);
    }
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
