// The order chosen for the peak: what it gains, and that it never costs anything.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plan/graph_case.h"
#include "tensor/graph/specialize.h"
#include "tensor/plan/execution_order.h"
#include "tensor/plan/lowering.h"
#include "tensor/plan/unused_nodes.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance exact{};

/// A graph's only stage, in the order of the graph.
struct Stage {
  Instance instance;
  Program& program;

  explicit Stage(const GraphCase& graph)
      : instance(graph.graph(), OperatorTable::builtin()), program(advance(graph)) {
    remove_unused_nodes(program);
  }
  [[nodiscard]] std::uint64_t peak() {
    return std::ranges::max(estimate_stage(program, StripFacts{}, options));
  }
  [[nodiscard]] std::uint64_t arena() { return stage_arena_bytes(program, StripFacts{}, options); }
  StageOptions options;

 private:
  Program& advance(const GraphCase& graph) {
    for (ValueId id : instance.graph().inputs) {
      instance.set_input(id, {{ElementType::f32, graph.shape_of(id)}, nullptr, false});
    }
    return instance.advance();
  }
};

bool is_topological(const Program& program) {
  std::vector<bool> made(program.values.size(), false);
  for (const ProgramNode& node : program.nodes) {
    for (ValueId id : node.inputs) {
      if (id == no_value || program.values[id].kind != ValueKind::activation) continue;
      if (!made[id]) return false;
    }
    for (ValueId id : node.outputs) {
      if (id != no_value) made[id] = true;
    }
  }
  return true;
}

/// Branches that grow and shrink, written side by side as a breadth-first exporter does.
GraphCase breadth_first(int branches) {
  GraphCase graph;
  const ValueId x = graph.input({16, 16});
  const ValueId repeats = graph.weight(tensor<std::int64_t>({2}, {1, 16}));
  std::vector<ValueId> grown;
  grown.reserve(static_cast<std::size_t>(branches));
  for (int branch = 0; branch < branches; ++branch) {
    grown.push_back(graph.node("Tile", {x, repeats}));
  }
  std::vector<ValueId> shrunk;
  shrunk.reserve(grown.size());
  for (ValueId id : grown)
    shrunk.push_back(graph.node("ReduceMax", {id}, {{"axes", std::vector<std::int64_t>{1}}}));
  ValueId sum = shrunk[0];
  for (std::size_t i = 1; i < shrunk.size(); ++i) sum = graph.node("Add", {sum, shrunk[i]});
  graph.output(sum);
  return graph;
}

TEST(ExecutionOrder, BranchesSideBySideRunOneAfterTheOther) {
  const GraphCase graph = breadth_first(8);
  Stage before(graph);
  Stage after(graph);
  order_for_peak(after.program, after.options.threads);
  EXPECT_TRUE(is_topological(after.program));
  // One grown branch of 16 KiB at a time instead of eight.
  EXPECT_GE(before.arena(), 8U * 16 * 1024);
  EXPECT_LT(after.arena(), 2U * 16 * 1024);
  graph.expect_results(exact);
}

TEST(ExecutionOrder, TheSameProgramGetsTheSameOrder) {
  const GraphCase graph = breadth_first(5);
  Stage one(graph);
  Stage two(graph);
  const auto order = lower_peak_order(one.program, one.options);
  EXPECT_FALSE(order.empty());
  EXPECT_EQ(order, lower_peak_order(two.program, two.options));
}

TEST(ExecutionOrder, AChainKeepsItsOrder) {
  GraphCase graph;
  ValueId x = graph.input({16, 16});
  for (int step = 0; step < 6; ++step) x = graph.node("Transpose", {x});
  graph.output(x);
  Stage stage(graph);
  EXPECT_TRUE(lower_peak_order(stage.program, stage.options).empty());
}

/// Values of different sizes that are read once or more, in an order without any plan behind it.
GraphCase random_graph(std::uint32_t seed) {
  std::mt19937 random(seed);
  GraphCase graph;
  std::vector<ValueId> rows{graph.input({1, 16}), graph.input({1, 16})};
  std::vector<ValueId> squares;
  const auto any = [&](const std::vector<ValueId>& from) { return from[random() % from.size()]; };
  const ValueId repeats = graph.weight(tensor<std::int64_t>({2}, {64, 1}));
  while (rows.size() + squares.size() < 42) {
    switch (random() % 5) {
      case 0:
        squares.push_back(graph.node("Tile", {any(rows), repeats}));
        break;
      case 1:
        if (!squares.empty()) {
          rows.push_back(
              graph.node("ReduceMax", {any(squares)}, {{"axes", std::vector<std::int64_t>{0}}}));
        }
        break;
      case 2:
        if (!squares.empty()) squares.push_back(graph.node("Neg", {any(squares)}));
        break;
      case 3:
        rows.push_back(graph.node("Add", {any(rows), any(rows)}));
        break;
      default:
        if (!squares.empty()) {
          squares.push_back(graph.node("Max", {any(squares), any(squares)}));
        }
        break;
    }
  }
  graph.output(rows.back());
  if (!squares.empty()) graph.output(squares.back());
  for (int more = 0; more < 3; ++more) graph.output(any(rows));
  return graph;
}

TEST(ExecutionOrder, RandomGraphsNeverNeedMoreAndKeepTheirBits) {
  int lower = 0;
  int missed = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const GraphCase graph = random_graph(seed);
    Stage before(graph);
    Stage after(graph);
    Stage wide(graph);
    order_for_peak(after.program, after.options.threads);
    ASSERT_TRUE(is_topological(after.program));
    EXPECT_LE(after.arena(), before.arena());
    if (after.arena() < before.arena()) ++lower;
    const auto reordered = [](Stage& stage, std::size_t width) {
      const auto order = lower_peak_order(stage.program, stage.options, width);
      std::vector<ProgramNode> nodes;
      nodes.reserve(order.size());
      for (std::uint32_t number : order) nodes.push_back(stage.program.nodes[number]);
      if (!order.empty()) stage.program.nodes = std::move(nodes);
      return stage.peak();
    };
    Stage narrow(graph);
    if (reordered(narrow, order_beam_width) > reordered(wide, 128)) ++missed;
    if (seed % 10 == 0) graph.expect_results(exact);
  }
  RecordProperty("lower", lower);
  RecordProperty("missed", missed);
  EXPECT_GE(lower, 200);
  EXPECT_LE(missed, 15);
}

}  // namespace
}  // namespace plimsoll::tensor::test
