// Concat and Split without copying: which parts lie in their wholes, and that nothing else changes.
#include <gtest/gtest.h>

#include <random>

#include "plan/graph_case.h"

namespace plimsoll::tensor::test {
namespace {

constexpr Tolerance exact{};
const GraphCase::Attributes first_axis{{"axis", std::int64_t{0}}};
const GraphCase::Attributes second_axis{{"axis", std::int64_t{1}}};

TEST(Placement, PartsAreComputedWhereTheyBelong) {
  GraphCase graph;
  const ValueId a = graph.node("Transpose", {graph.input({16, 5})});
  const ValueId b = graph.node("Transpose", {graph.input({16, 2})});
  const ValueId whole = graph.node("Concat", {a, b}, first_axis);
  graph.output(graph.node("Transpose", {whole}));
  graph.expect_lowered({"Transpose", "Transpose", "Transpose"}, exact);
}

TEST(Placement, PartsOfAValueAreReadWhereTheyAre) {
  GraphCase graph;
  const ValueId x = graph.node("Transpose", {graph.input({16, 6})});
  for (const ValueId part : graph.nodes("Split", {x}, 3, first_axis)) {
    graph.output(graph.node("Transpose", {part}));
  }
  graph.expect_lowered({"Transpose", "Transpose", "Transpose", "Transpose"}, exact);
}

TEST(Placement, WholesThatArePartsThemselves) {
  GraphCase graph;
  const ValueId a = graph.node("Transpose", {graph.input({16, 5})});
  const ValueId b = graph.node("Transpose", {graph.input({16, 2})});
  const ValueId c = graph.node("Transpose", {graph.input({16, 3})});
  const ValueId inner = graph.node("Concat", {a, b}, first_axis);
  const ValueId outer = graph.node("Concat", {c, inner}, first_axis);
  const auto parts = graph.nodes("Split", {outer}, 2, first_axis);
  const auto quarters = graph.nodes("Split", {parts[1]}, 5, first_axis);
  graph.output(graph.node("Transpose", {quarters[4]}));
  graph.output(graph.node("Transpose", {inner}));
  graph.output(graph.node("Transpose", {parts[0]}));
  graph.expect_lowered(std::vector<std::string>(6, "Transpose"), exact);
}

TEST(Placement, PartsThatAreReadLaterToo) {
  GraphCase graph;
  const ValueId a = graph.node("Transpose", {graph.input({16, 5})});
  const ValueId b = graph.node("Transpose", {graph.input({16, 2})});
  const ValueId whole = graph.node("Concat", {a, b}, first_axis);
  // Neither may be computed in place: the other one is read after it.
  graph.output(graph.node("Transpose", {graph.node("Abs", {whole})}));
  graph.output(graph.node("Transpose", {graph.node("Neg", {a})}));
  graph.output(graph.node("Transpose", {b}));
  graph.output(graph.node("Transpose", {whole}));
  graph.expect_results(exact);
}

TEST(Placement, AValueGivenTwiceIsCopiedOnce) {
  GraphCase graph;
  const ValueId a = graph.node("Transpose", {graph.input({16, 5})});
  const ValueId whole = graph.node("Concat", {a, a}, first_axis);
  graph.output(graph.node("Transpose", {whole}));
  graph.expect_lowered({"Transpose", "Concat", "Transpose"}, exact);
}

TEST(Placement, TheCallersMemoryIsCopied) {
  GraphCase graph;
  const ValueId x = graph.input({6, 16});
  const ValueId y = graph.input({2, 16});
  graph.output(graph.node("Transpose", {graph.node("Concat", {x, y}, first_axis)}));
  graph.output(graph.node("Transpose", {graph.nodes("Split", {x}, 2, first_axis)[1]}));
  graph.expect_lowered({"Concat", "Transpose", "Split", "Transpose"}, exact);
}

TEST(Placement, PartsThatAreNotContiguousAreCopied) {
  GraphCase graph;
  const ValueId a = graph.node("Transpose", {graph.input({16, 5})});
  const ValueId b = graph.node("Transpose", {graph.input({32, 5})});
  const ValueId whole = graph.node("Concat", {a, b}, second_axis);
  graph.output(graph.node("Transpose", {whole}));
  graph.expect_lowered({"Transpose", "Transpose", "Concat", "Transpose"}, exact);
}

TEST(Placement, DimensionsOfOneBeforeTheAxisDoNotMatter) {
  GraphCase graph;
  const GraphCase::Attributes swap{{"perm", std::vector<std::int64_t>{0, 2, 1}}};
  const ValueId a = graph.node("Transpose", {graph.input({1, 16, 5})}, swap);
  const ValueId b = graph.node("Transpose", {graph.input({1, 16, 4})}, swap);
  const ValueId whole = graph.node("Concat", {a, b}, {{"axis", std::int64_t{-2}}});
  graph.output(graph.node("Transpose", {whole}, swap));
  graph.expect_lowered({"Transpose", "Transpose", "Transpose"}, exact);
}

TEST(Placement, PartsWouldHaveToBeAligned) {
  GraphCase graph;
  // 20 bytes a row: only the first part is aligned as kernels expect it.
  const ValueId a = graph.node("Transpose", {graph.input({5, 3})});
  const ValueId b = graph.node("Transpose", {graph.input({5, 2})});
  const ValueId whole = graph.node("Concat", {a, b}, first_axis);
  graph.output(graph.node("Transpose", {whole}));
  graph.expect_lowered({"Transpose", "Transpose", "Concat", "Transpose"}, exact);
}

TEST(Placement, NotWhereTheArenaWouldGrow) {
  GraphCase graph;
  // The whole would be there while `large` is, which is gone when `b` is made.
  const ValueId a = graph.node("Transpose", {graph.input({16, 1})});
  const ValueId large = graph.node("Transpose", {graph.input({256, 128})});
  const ValueId sums =
      graph.node("ReduceSum", {large, graph.weight(tensor<std::int64_t>({1}, {1}))},
                 {{"keepdims", std::int64_t{0}}});
  graph.output(sums);
  const ValueId b = graph.node("Transpose", {graph.input({16, 1024})});
  const ValueId whole = graph.node("Concat", {a, b}, first_axis);
  graph.output(graph.node("Transpose", {whole}));
  graph.expect_lowered({"Transpose", "Transpose", "ReduceSum", "Transpose", "Concat", "Transpose"},
                       exact);
}

/// Concat, Split, views and operators that may compute in place, in any mixture.
GraphCase random_graph(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t count) { return random() % count; };
  struct Known {
    ValueId id;
    std::int64_t rows;
  };
  GraphCase graph;
  std::vector<Known> values;
  for (int index = 0; index < 3; ++index) {
    const auto rows = static_cast<std::int64_t>(1 + pick(6));
    values.push_back({graph.input({rows, 16}), rows});
  }
  for (int step = 0; step < 24; ++step) {
    const Known x = values[pick(values.size())];
    const Known y = values[pick(values.size())];
    switch (pick(7)) {
      case 0:
      case 1:
        if (x.rows + y.rows > 64) break;
        values.push_back({graph.node("Concat", {x.id, y.id}, first_axis), x.rows + y.rows});
        break;
      case 2:
      case 3: {
        if (x.rows < 2) break;
        const auto head = static_cast<std::int64_t>(1 + pick(static_cast<std::size_t>(x.rows - 1)));
        const ValueId sizes = graph.weight(tensor<std::int64_t>({2}, {head, x.rows - head}));
        const auto parts = graph.nodes("Split", {x.id, sizes}, 2, first_axis);
        values.push_back({parts[0], head});
        values.push_back({parts[1], x.rows - head});
        break;
      }
      case 4: {
        const ValueId shape = graph.weight(tensor<std::int64_t>({2}, {x.rows, 16}));
        values.push_back({graph.node("Reshape", {x.id, shape}), x.rows});
        break;
      }
      case 5:
        values.push_back({graph.node("Neg", {x.id}), x.rows});
        break;
      default: {
        const ValueId turned = graph.node("Transpose", {x.id});
        values.push_back({graph.node("Transpose", {turned}), x.rows});
        break;
      }
    }
  }
  for (const Known& value : values) {
    if (pick(3) == 0) graph.output(value.id);
  }
  graph.output(values.back().id);
  return graph;
}

TEST(Placement, RandomGraphsGiveTheSameBits) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    random_graph(seed).expect_results(exact);
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
