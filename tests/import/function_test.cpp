// Model-local functions are expanded where they are called.
#include <gmock/gmock.h>

#include "import_fixture.h"

namespace plimsoll::tensor::test {
namespace {

using ::testing::ElementsAre;

constexpr ElementType f32 = ElementType::f32;
constexpr std::int64_t kind_real = 1;
constexpr std::int64_t kind_integer = 2;

FunctionWriter scaled() {
  return FunctionWriter("local", "Scaled")
      .input("a")
      .input("b")
      .output("r")
      .attribute("alpha")
      .default_integer("axis", 3)
      .opset("", 13)
      .node(NodeWriter("Mul", {"a", "b"}, {"m"})
                .name("multiply")
                .reference("alpha", "alpha", kind_real)
                .reference("axis", "axis", kind_integer))
      .node(NodeWriter("Neg", {"m"}, {"r"}));
}

TEST(ImportFunction, IsExpandedWithItsAttributes) {
  const auto model = import_model(
      ModelWriter()
          .opset("", 18)
          .opset("local", 1)
          .function(scaled())
          .graph(graph_of({
              NodeWriter("Scaled", {"x", "x"}, {"h"}).domain("local").name("one").real("alpha", 2),
              NodeWriter("Scaled", {"h"}, {"y"}).domain("local").name("two").integer("axis", 7),
          })));
  const Graph& graph = model->main;
  EXPECT_THAT(nodes_of(graph),
              ElementsAre("Mul(x,x)->one/m", "Neg(one/m)->h", "Mul(h)->two/m", "Neg(two/m)->y"));
  EXPECT_EQ(graph.nodes[0].label(), "Mul 'one/multiply'");
  EXPECT_EQ(graph.nodes[0].opset, 13);
  EXPECT_EQ(graph.nodes[0].real("alpha", 0), 2);
  EXPECT_EQ(graph.nodes[0].integer("axis"), 3);
  EXPECT_EQ(graph.nodes[2].attribute("alpha"), nullptr);
  EXPECT_EQ(graph.nodes[2].integer("axis"), 7);
}

TEST(ImportFunction, MayCallOthersAndPassAttributesOn) {
  const FunctionWriter outer = FunctionWriter("local", "Outer")
                                   .input("p")
                                   .output("q")
                                   .attribute("beta")
                                   .node(NodeWriter("Scaled", {"p", "p"}, {"q"})
                                             .domain("local")
                                             .name("call")
                                             .reference("alpha", "beta", kind_real));
  const auto model =
      import_model(ModelWriter().opset("", 18).function(outer).function(scaled()).graph(
          graph_of({NodeWriter("Outer", {"x"}, {"y"}).domain("local").name("o").real("beta", 5)})));
  EXPECT_THAT(nodes_of(model->main), ElementsAre("Mul(x,x)->o/call/m", "Neg(o/call/m)->y"));
  EXPECT_EQ(model->main.nodes[0].real("alpha", 0), 5);
}

TEST(ImportFunction, SubgraphsSeeItsValuesAndAttributes) {
  const GraphWriter branch =
      GraphWriter()
          .node(NodeWriter("Leaky", {"m"}, {"t"}).reference("alpha", "alpha", kind_real))
          .output("t", f32, {1});
  const FunctionWriter function = FunctionWriter("local", "Choose")
                                      .input("c")
                                      .input("v")
                                      .output("r")
                                      .attribute("alpha")
                                      .node(NodeWriter("Neg", {"v"}, {"m"}))
                                      .node(NodeWriter("If", {"c"}, {"r"})
                                                .graph("then_branch", branch)
                                                .graph("else_branch", branch));
  const auto model = import_model(
      ModelWriter().function(function).graph(GraphWriter()
                                                 .input("c", ElementType::boolean, {})
                                                 .input("x", f32, {1})
                                                 .output("y", f32, {1})
                                                 .node(NodeWriter("Choose", {"c", "x"}, {"y"})
                                                           .domain("local")
                                                           .name("f")
                                                           .real("alpha", 0.25F))));
  const Graph& main = model->main;
  EXPECT_THAT(nodes_of(main), ElementsAre("Neg(x)->f/m", "If(c)->y"));
  const auto body = main.nodes[1].graph("then_branch");
  EXPECT_THAT(nodes_of(*body), ElementsAre("Leaky(f/m)->f/t"));
  EXPECT_EQ(body->nodes[0].real("alpha", 0), 0.25F);
  ASSERT_EQ(body->captures.size(), 1U);
  EXPECT_EQ(main.values[body->captures[0].outer].name, "f/m");
}

TEST(ImportFunction, OmittedInputsAndUntakenOutputs) {
  const FunctionWriter function = FunctionWriter("local", "F")
                                      .input("a")
                                      .input("b")
                                      .output("r")
                                      .output("s")
                                      .node(NodeWriter("Clip", {"a", "b", "a"}, {"r"}))
                                      .node(NodeWriter("Neg", {"a"}, {"s"}));
  const auto model = import_model(ModelWriter().function(function).graph(
      graph_of({NodeWriter("F", {"x", ""}, {"y"}).domain("local").name("f")})));
  EXPECT_THAT(nodes_of(model->main), ElementsAre("Clip(x,-,x)->y", "Neg(x)->f/s"));
}

TEST(ImportFunction, AnInputPassedOnKeepsTheCallersName) {
  const FunctionWriter function = FunctionWriter("local", "Same").input("a").output("a");
  const auto model = import_model(ModelWriter().function(function).graph(
      graph_of({NodeWriter("Same", {"x"}, {"y"}).domain("local")})));
  EXPECT_THAT(nodes_of(model->main), ElementsAre("Identity(x)->y"));
}

TEST(ImportFunction, AWeightInsideStaysOneWeight) {
  const FunctionWriter function =
      FunctionWriter("local", "Biased")
          .input("a")
          .output("r")
          .node(NodeWriter("Constant", {}, {"w"})
                    .tensor("value", raw_tensor<float>("", {300}, std::vector<float>(300, 1))))
          .node(NodeWriter("Add", {"a", "w"}, {"r"}));
  const auto model = import_model(ModelWriter().function(function).graph(
      graph_of({NodeWriter("Biased", {"x"}, {"h"}).domain("local").name("one"),
                NodeWriter("Biased", {"h"}, {"y"}).domain("local").name("two")})));
  EXPECT_EQ(value_named(model->main, "one/w").stored, value_named(model->main, "two/w").stored);
  EXPECT_EQ(value_named(model->main, "one/w").stored->name, "w");
}

TEST(ImportFunction, OverloadsAreToldApart) {
  const auto function = [](const char* overload, const char* operation) {
    return FunctionWriter("local", "F")
        .overload(overload)
        .input("a")
        .output("r")
        .node(NodeWriter(operation, {"a"}, {"r"}));
  };
  const auto model = import_model(
      ModelWriter()
          .function(function("", "Neg"))
          .function(function("two", "Abs"))
          .graph(graph_of({NodeWriter("F", {"x"}, {"h"}).domain("local"),
                           NodeWriter("F", {"h"}, {"y"}).domain("local").overload("two")})));
  EXPECT_THAT(nodes_of(model->main), ElementsAre("Neg(x)->h", "Abs(h)->y"));
}

TEST(ImportFunction, BadOnesAreRefused) {
  const auto with = [](const FunctionWriter& function, const NodeWriter& call) {
    return [=] { return import_model(ModelWriter().function(function).graph(graph_of({call}))); };
  };
  const NodeWriter call = NodeWriter("F", {"x"}, {"y"}).domain("local").name("call");
  const auto function = [] { return FunctionWriter("local", "F").input("a").output("r"); };

  expect_error(with(function().node(NodeWriter("F", {"a"}, {"r"}).domain("local")), call),
               ErrorKind::bad_input, {"'F'", "calls itself", "'call'"});
  expect_error(with(function(), call), ErrorKind::bad_input, {"never makes its output 'r'"});
  expect_error(with(function().node(NodeWriter("Neg", {"x"}, {"r"})), call), ErrorKind::bad_input,
               {"'x'", "nothing defines"});
  expect_error(with(function().node(NodeWriter("Neg", {"a"}, {"a"})), call), ErrorKind::bad_input,
               {"'a'", "twice"});
  expect_error(with(function().node(NodeWriter("Neg", {"a"}, {"r"})),
                    NodeWriter("F", {"x", "x"}, {"y"}).domain("local")),
               ErrorKind::bad_input, {"takes 1 inputs"});
  expect_error(with(function().node(NodeWriter("Neg", {"a"}, {"r"})),
                    NodeWriter("F", {"x"}, {"y", "z"}).domain("local")),
               ErrorKind::bad_input, {"has 1 outputs"});
  expect_error(
      [&] { return import_model(ModelWriter().function(function()).function(function())); },
      ErrorKind::bad_input, {"no graph"});
  expect_error(
      [&] {
        return import_model(ModelWriter()
                                .function(function())
                                .function(function())
                                .graph(graph_of({NodeWriter("Neg", {"x"}, {"y"})})));
      },
      ErrorKind::bad_input, {"'F'", "twice"});
  expect_error(
      [&] {
        return import_graph(
            graph_of({NodeWriter("Neg", {"x"}, {"y"}).reference("a", "b", kind_real)}));
      },
      ErrorKind::bad_input, {"'b'", "function"});
}

TEST(ImportFunction, MultiplyingFunctionsAreStopped) {
  // Each calls the next one eight times: 8^20 nodes in all, from a file of a few KiB.
  ModelWriter model;
  constexpr int levels = 20;
  for (int level = 0; level < levels; ++level) {
    FunctionWriter function("local", "F" + std::to_string(level));
    function.input("v0").output("v8");
    for (int step = 0; step < 8; ++step) {
      function.node(NodeWriter(level + 1 == levels ? "Neg" : "F" + std::to_string(level + 1),
                               {"v" + std::to_string(step)}, {"v" + std::to_string(step + 1)})
                        .domain(level + 1 == levels ? "" : "local"));
    }
    model.function(function);
  }
  model.graph(graph_of({NodeWriter("F0", {"x"}, {"y"}).domain("local")}));
  const Error error = error_of([&] { return import_model(model); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_NE(error.message().find("256 MiB"), std::string::npos) << error.message();
  EXPECT_LT(error.message().size(), 4096U);
}

}  // namespace
}  // namespace plimsoll::tensor::test
