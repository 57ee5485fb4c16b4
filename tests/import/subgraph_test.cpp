// Subgraphs: captures, shadowing, weights of enclosing graphs.
#include <gmock/gmock.h>

#include "import_fixture.h"

namespace plimsoll::tensor::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ElementType f32 = ElementType::f32;

std::vector<std::string> captures_of(const Graph& outer, const Graph& inner) {
  std::vector<std::string> result;
  for (const Capture& capture : inner.captures) {
    result.push_back(inner.values.at(capture.inner).name + "=" +
                     outer.values.at(capture.outer).name);
  }
  return result;
}

GraphWriter condition_graph(const NodeWriter& node) {
  return GraphWriter()
      .input("cond", ElementType::boolean, {})
      .input("x", f32, {2})
      .output("y", f32, {2})
      .node(node);
}

TEST(ImportSubgraph, ReadsValuesOfTheEnclosingGraph) {
  const auto model = import_graph(condition_graph(
      NodeWriter("If", {"cond"}, {"y"})
          .graph("then_branch",
                 GraphWriter().node(NodeWriter("Add", {"x", "x"}, {"t"})).output("t", f32, {2}))
          .graph("else_branch", GraphWriter().output("x", f32, {2}))));
  const Graph& main = model->main;
  const auto then_branch = main.nodes.at(0).graph("then_branch");
  EXPECT_THAT(nodes_of(*then_branch), ElementsAre("Add(x,x)->t"));
  EXPECT_THAT(captures_of(main, *then_branch), ElementsAre("x=x"));
  EXPECT_THAT(then_branch->inputs, IsEmpty());
  // Returning an outer value as it is: an output that is a capture.
  const auto else_branch = main.nodes.at(0).graph("else_branch");
  EXPECT_THAT(nodes_of(*else_branch), IsEmpty());
  EXPECT_THAT(captures_of(main, *else_branch), ElementsAre("x=x"));
  EXPECT_THAT(names_of(*else_branch, else_branch->outputs), ElementsAre("x"));
}

TEST(ImportSubgraph, CapturesGoThroughEveryLevel) {
  const GraphWriter innermost =
      GraphWriter().node(NodeWriter("Add", {"x", "mid"}, {"sum"})).output("sum", f32, {2});
  const GraphWriter middle = GraphWriter()
                                 .node(NodeWriter("Neg", {"w"}, {"mid"}))
                                 .node(NodeWriter("If", {"cond"}, {"z"})
                                           .graph("then_branch", innermost)
                                           .graph("else_branch", innermost))
                                 .output("z", f32, {2});
  const auto model = import_graph(condition_graph(NodeWriter("If", {"cond"}, {"y"})
                                                      .graph("then_branch", middle)
                                                      .graph("else_branch", middle))
                                      .initializer(raw_tensor<float>("w", {2}, {1, 2})));
  const Graph& main = model->main;
  const auto then_middle = main.nodes.at(0).graph("then_branch");
  const auto else_middle = main.nodes.at(0).graph("else_branch");
  EXPECT_THAT(captures_of(main, *then_middle), ElementsAre("cond=cond", "x=x"));
  const auto inner = then_middle->nodes.at(1).graph("then_branch");
  EXPECT_THAT(captures_of(*then_middle, *inner), ElementsAre("x=x", "mid=mid"));
  // A weight is no capture, it is there, and it is the same one.
  const StoredTensor* weight = value_named(main, "w").stored.get();
  EXPECT_EQ(value_named(*then_middle, "w").stored.get(), weight);
  EXPECT_EQ(value_named(*else_middle, "w").stored.get(), weight);
}

TEST(ImportSubgraph, IdentitiesOfOuterWeightsAreThoseWeights) {
  const GraphWriter branch = GraphWriter()
                                 .node(NodeWriter("Identity", {"alias"}, {"inner_alias"}))
                                 .node(NodeWriter("Add", {"x", "inner_alias"}, {"t"}))
                                 .output("t", f32, {2});
  const auto model = import_graph(condition_graph(NodeWriter("If", {"cond"}, {"y"})
                                                      .graph("then_branch", branch)
                                                      .graph("else_branch", branch))
                                      // Behind the node that needs it.
                                      .node(NodeWriter("Identity", {"w"}, {"alias"}))
                                      .initializer(raw_tensor<float>("w", {2}, {1, 2})));
  const Graph& main = model->main;
  EXPECT_EQ(main.nodes.size(), 1U);
  for (const char* key : {"then_branch", "else_branch"}) {
    const auto body = main.nodes.at(0).graph(key);
    EXPECT_THAT(nodes_of(*body), ElementsAre("Add(x,inner_alias)->t"));
    EXPECT_EQ(value_named(*body, "inner_alias").stored, value_named(main, "w").stored);
    EXPECT_THAT(captures_of(main, *body), ElementsAre("x=x"));
  }
}

TEST(ImportSubgraph, ItsOwnNamesWin) {
  const GraphWriter body = GraphWriter()
                               .input("i", ElementType::i64, {})
                               .input("c", ElementType::boolean, {})
                               .input("x", f32, {2})  // hides the outer x
                               .node(NodeWriter("Identity", {"c"}, {"c_out"}))
                               .node(NodeWriter("Neg", {"x"}, {"h"}))
                               .output("c_out", ElementType::boolean, {})
                               .output("h", f32, {2});
  const auto model =
      import_graph(condition_graph(NodeWriter("Loop", {"", "cond", "h"}, {"y"}).graph("body", body))
                       .node(NodeWriter("Relu", {"x"}, {"h"})));
  const Graph& main = model->main;
  // The node before it is what makes h.
  EXPECT_THAT(nodes_of(main), ElementsAre("Relu(x)->h", "Loop(-,cond,h)->y"));
  const auto inner = main.nodes.at(1).graph("body");
  EXPECT_THAT(names_of(*inner, inner->inputs), ElementsAre("i", "c", "x"));
  EXPECT_THAT(inner->captures, IsEmpty());
}

TEST(ImportSubgraph, OrderCountsWhatSubgraphsRead) {
  const GraphWriter branch =
      GraphWriter().node(NodeWriter("Neg", {"h"}, {"t"})).output("t", f32, {2});
  const auto model = import_graph(condition_graph(NodeWriter("If", {"cond"}, {"y"})
                                                      .graph("then_branch", branch)
                                                      .graph("else_branch", branch))
                                      .node(NodeWriter("Relu", {"x"}, {"h"})));
  EXPECT_THAT(nodes_of(model->main), ElementsAre("Relu(x)->h", "If(cond)->y"));
}

TEST(ImportSubgraph, ACycleThroughASubgraphIsRefused) {
  const GraphWriter branch =
      GraphWriter().node(NodeWriter("Neg", {"y"}, {"t"})).output("t", f32, {2});
  expect_error(
      [&] {
        return import_graph(condition_graph(NodeWriter("If", {"cond"}, {"y"})
                                                .name("odd")
                                                .graph("then_branch", branch)
                                                .graph("else_branch", branch)));
      },
      ErrorKind::bad_input, {"cycle", "'odd'", "'y'"});
}

TEST(ImportSubgraph, UndefinedNamesAreRefusedWithTheirPlace) {
  const GraphWriter branch =
      GraphWriter().node(NodeWriter("Neg", {"ghost"}, {"t"}).name("inner")).output("t", f32, {2});
  expect_error(
      [&] {
        return import_graph(condition_graph(
            NodeWriter("If", {"cond"}, {"y"}).name("outer").graph("then_branch", branch)));
      },
      ErrorKind::bad_input, {"'ghost'", "'inner'", "'outer'"});
}

}  // namespace
}  // namespace plimsoll::tensor::test
