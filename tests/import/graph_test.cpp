// Names, order, weights and scopes of imported graphs.
#include <gmock/gmock.h>

#include "import_fixture.h"

namespace plimsoll::tensor::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ElementType f32 = ElementType::f32;

TEST(ImportGraph, KeepsWhatTheModelSays) {
  const auto model = import_model(
      ModelWriter()
          .ir_version(9)
          .producer("a tool")
          .opset("ai.onnx", 19)
          .opset("com.example", 3)
          .opset("never.used", 1)
          .graph(GraphWriter()
                     .name("net")
                     .input("x", f32, {"batch", 3, ""})
                     .output("y", unshaped_tensor_type(f32))
                     .node(NodeWriter("Relu", {"x"}, {"h"}).name("first").domain("ai.onnx"))
                     .node(NodeWriter("Odd", {"h", "", "x", ""}, {"y", ""})
                               .domain("com.example")
                               .name("second"))));
  EXPECT_EQ(model->path, "model.onnx");
  EXPECT_EQ(model->producer, "a tool");
  EXPECT_EQ(model->ir_version, 9);
  EXPECT_EQ(model->opsets,
            (std::map<std::string, int>{{"", 19}, {"com.example", 3}, {"never.used", 1}}));
  const Graph& graph = model->main;
  EXPECT_EQ(graph.name, "net");
  EXPECT_THAT(names_of(graph, graph.inputs), ElementsAre("x"));
  EXPECT_THAT(names_of(graph, graph.outputs), ElementsAre("y"));
  // Omitted inputs at the end are dropped, omitted outputs are counted by some operators.
  EXPECT_THAT(nodes_of(graph), ElementsAre("Relu(x)->h", "Odd(h,-,x)->y,-"));
  EXPECT_EQ(graph.nodes[0].domain, "");
  EXPECT_EQ(graph.nodes[0].opset, 19);
  EXPECT_EQ(graph.nodes[0].label(), "Relu 'first'");
  EXPECT_EQ(graph.nodes[1].opset, 3);
  EXPECT_EQ(graph.nodes[1].label(), "com.example.Odd 'second'");

  const DeclaredType& x = *value_named(graph, "x").declared;
  EXPECT_EQ(x.kind, DeclaredType::Kind::tensor);
  EXPECT_EQ(x.element, f32);
  ASSERT_EQ(x.dimensions->size(), 3U);
  EXPECT_EQ((*x.dimensions)[0].symbol, "batch");
  EXPECT_EQ((*x.dimensions)[0].value, -1);
  EXPECT_EQ((*x.dimensions)[1].value, 3);
  EXPECT_EQ((*x.dimensions)[2].value, -1);
  EXPECT_EQ((*x.dimensions)[2].symbol, "");
  EXPECT_FALSE(value_named(graph, "y").declared->dimensions.has_value());
}

TEST(ImportGraph, ReadsSequenceAndOptionalTypes) {
  const auto model = import_graph(
      GraphWriter()
          .input("s", sequence_type(tensor_type(ElementType::i64, {2})))
          .input("o", optional_type(sequence_type(tensor_type(ElementType::f16, {"n"}))))
          .output("s2", sequence_type(unshaped_tensor_type(ElementType::i64)))
          .node(NodeWriter("Identity", {"s"}, {"s2"})));
  const DeclaredType& s = *value_named(model->main, "s").declared;
  EXPECT_EQ(s.kind, DeclaredType::Kind::sequence);
  EXPECT_EQ(s.element, ElementType::i64);
  EXPECT_EQ((*s.dimensions)[0].value, 2);
  const DeclaredType& o = *value_named(model->main, "o").declared;
  EXPECT_EQ(o.kind, DeclaredType::Kind::optional);
  EXPECT_EQ(o.element, ElementType::f16);
  EXPECT_THAT(nodes_of(model->main), ElementsAre("Identity(s)->s2"));
}

TEST(ImportGraph, ReadsAttributesOfEveryKind) {
  const auto model = import_graph(
      graph_of({NodeWriter("Op", {"x"}, {"y"})
                    .integer("i", -5)
                    .real("f", 0.5F)
                    .text("s", std::string("a\0b", 3))
                    .integers("is", {1, -2, std::numeric_limits<std::int64_t>::max()})
                    .reals("fs", {1.5F, -2})
                    .texts("ss", {"one", ""})
                    .integers("none", {})
                    .tensor("t", raw_tensor<float>("", {2}, {3, 4}))
                    .type("tp", tensor_type(ElementType::bf16, {7}))
                    .attribute(Message().text(1, "zero").integer(20, 1))
                    .attribute(Message().text(1, "untyped").integer(3, 11))
                    .attribute(Message()
                                   .text(1, "packed")
                                   .message(8, Message().raw(std::string("\x05\x80\x01", 3))))}));
  const Node& node = model->main.nodes.at(0);
  EXPECT_EQ(node.integer("i"), -5);
  EXPECT_EQ(node.integer("i", 3), -5);
  EXPECT_EQ(node.integer("absent", 3), 3);
  EXPECT_EQ(node.real("f", 0), 0.5F);
  EXPECT_EQ(node.text("s", ""), std::string("a\0b", 3));
  EXPECT_THAT(node.integers("is"), ElementsAre(1, -2, std::numeric_limits<std::int64_t>::max()));
  EXPECT_THAT(node.reals("fs"), ElementsAre(1.5F, -2.0F));
  EXPECT_THAT(std::get<std::vector<std::string>>(*node.attribute("ss")), ElementsAre("one", ""));
  EXPECT_THAT(node.integers("none"), IsEmpty());
  EXPECT_NE(node.attribute("none"), nullptr);
  EXPECT_THAT(elements_of<float>(*node.tensor("t")), ElementsAre(3, 4));
  EXPECT_EQ(std::get<DeclaredType>(*node.attribute("tp")).element, ElementType::bf16);
  EXPECT_EQ(node.real("zero", 9), 0);
  EXPECT_EQ(node.integer("untyped"), 11);
  EXPECT_THAT(node.integers("packed"), ElementsAre(5, 128));
  expect_error([&] { return node.integer("f", 0); }, ErrorKind::bad_input,
               {"'f'", "a float", "an integer"});
  expect_error([&] { return node.integer("absent"); }, ErrorKind::bad_input, {"'absent'"});
  expect_error([&] { return node.graph("absent"); }, ErrorKind::bad_input, {"'absent'"});
}

TEST(ImportGraph, AnAttributeOfUnsupportedKindIsRefusedWhereItIsRead) {
  const auto model =
      import_graph(graph_of({NodeWriter("Op", {"x"}, {"y"})
                                 .attribute(Message().text(1, "many").integer(20, 9).message(
                                     10, raw_tensor<float>("", {1}, {1})))
                                 .attribute(Message().text(1, "new").integer(20, 77))
                                 .text("large", std::string((1 << 20) + 1, 'x'))}));
  const Node& node = model->main.nodes.at(0);
  for (const char* key : {"many", "new", "large"}) {
    expect_error([&] { return node.integer(key, 0); }, ErrorKind::unsupported, {key});
  }
}

TEST(ImportGraph, AnInitialiserGivesAnInputItsValue) {
  const auto model = import_graph(GraphWriter()
                                      .input("x", f32, {2})
                                      .input("w", f32, {2})
                                      .output("y", f32, {2})
                                      .node(NodeWriter("Add", {"x", "w"}, {"y"}))
                                      .initializer(raw_tensor<float>("w", {2}, {1, 2})));
  EXPECT_THAT(names_of(model->main, model->main.inputs), ElementsAre("x"));
  EXPECT_NE(value_named(model->main, "w").stored, nullptr);
}

TEST(ImportGraph, ConstantsBecomeWeights) {
  const auto model =
      import_graph(graph_of({NodeWriter("Constant", {}, {"t"})
                                 .tensor("value", raw_tensor<float>("const_tensor", {1}, {2})),
                             NodeWriter("Constant", {}, {"f"}).real("value_float", 1.5F),
                             NodeWriter("Constant", {}, {"fs"}).reals("value_floats", {1, 2, 3}),
                             NodeWriter("Constant", {}, {"i"}).integer("value_int", -7),
                             NodeWriter("Constant", {}, {"is"}).integers("value_ints", {4, 5}),
                             NodeWriter("Constant", {}, {"s"}).text("value_string", "unused"),
                             NodeWriter("Concat", {"t", "f", "fs", "i", "is"}, {"y"})}));
  const Graph& graph = model->main;
  EXPECT_THAT(nodes_of(graph), ElementsAre("Concat(t,f,fs,i,is)->y"));
  EXPECT_EQ(value_named(graph, "t").stored->name, "t");
  EXPECT_THAT(elements_of<float>(*value_named(graph, "t").stored), ElementsAre(2));
  EXPECT_EQ(value_named(graph, "f").stored->shape, Shape{});
  EXPECT_THAT(elements_of<float>(*value_named(graph, "f").stored), ElementsAre(1.5F));
  EXPECT_THAT(elements_of<float>(*value_named(graph, "fs").stored), ElementsAre(1, 2, 3));
  EXPECT_EQ(value_named(graph, "i").stored->shape, Shape{});
  EXPECT_THAT(elements_of<std::int64_t>(*value_named(graph, "i").stored), ElementsAre(-7));
  EXPECT_THAT(elements_of<std::int64_t>(*value_named(graph, "is").stored), ElementsAre(4, 5));
  expect_error(
      [&] {
        value_named(graph, "s").stored->read(0, 1, nullptr);
        return 0;
      },
      ErrorKind::unsupported, {"'s'", "strings"});
}

TEST(ImportGraph, AConstantNeedsOneValue) {
  expect_error([] { return import_graph(graph_of({NodeWriter("Constant", {}, {"y"})})); },
               ErrorKind::bad_input, {"Constant", "one attribute"});
  expect_error(
      [] {
        return import_graph(
            graph_of({NodeWriter("Constant", {}, {"y"}).integer("value_float", 1)}));
      },
      ErrorKind::bad_input, {"value_float"});
  expect_error(
      [] { return import_graph(graph_of({NodeWriter("Constant", {}, {"y"}).integer("odd", 1)})); },
      ErrorKind::bad_input, {"'odd'"});
}

TEST(ImportGraph, IdentitiesOfAWeightAreThatWeight) {
  const auto model = import_graph(GraphWriter()
                                      .input("x", f32, {2})
                                      .output("y", f32, {2})
                                      .output("w3", f32, {2})
                                      .initializer(raw_tensor<float>("w", {2}, {1, 2}))
                                      .node(NodeWriter("Add", {"x", "w2"}, {"y"}))
                                      .node(NodeWriter("Identity", {"w1"}, {"w2"}))
                                      .node(NodeWriter("Identity", {"w"}, {"w1"}))
                                      .node(NodeWriter("Identity", {"w"}, {"w3"})));
  const Graph& graph = model->main;
  EXPECT_THAT(nodes_of(graph), ElementsAre("Add(x,w2)->y"));
  const StoredTensor* weight = value_named(graph, "w").stored.get();
  ASSERT_NE(weight, nullptr);
  for (const char* alias : {"w1", "w2", "w3"}) {
    EXPECT_EQ(value_named(graph, alias).stored.get(), weight) << alias;
  }
  EXPECT_THAT(names_of(graph, graph.outputs), ElementsAre("y", "w3"));
}

TEST(ImportGraph, OtherIdentitiesStayUnlessNobodyReadsThem) {
  const auto model = import_graph(graph_of({
      NodeWriter("Identity", {"x"}, {"dead1"}),
      NodeWriter("Identity", {"dead1"}, {"dead2"}),
      NodeWriter("Identity", {"x"}, {"y"}),
  }));
  EXPECT_THAT(nodes_of(model->main), ElementsAre("Identity(x)->y"));
}

TEST(ImportGraph, SortsNodes) {
  const auto model = import_graph(graph_of({
      NodeWriter("C", {"b", "a"}, {"y"}),
      NodeWriter("B", {"a"}, {"b"}),
      NodeWriter("A", {"x"}, {"a"}),
      NodeWriter("D", {"x"}, {"d"}),
  }));
  EXPECT_THAT(nodes_of(model->main), ElementsAre("A(x)->a", "B(a)->b", "C(b,a)->y", "D(x)->d"));
}

TEST(ImportGraph, KeepsAnOrderThatIsRight) {
  const auto model = import_graph(graph_of({
      NodeWriter("B", {"x"}, {"b"}),
      NodeWriter("A", {"x"}, {"a"}),
      NodeWriter("C", {"a", "b"}, {"y"}),
  }));
  EXPECT_THAT(nodes_of(model->main), ElementsAre("B(x)->b", "A(x)->a", "C(a,b)->y"));
}

TEST(ImportGraph, OutputsMayBeInputsAndWeights) {
  const auto model = import_graph(GraphWriter()
                                      .input("x", f32, {1})
                                      .output("x", f32, {1})
                                      .output("w", f32, {1})
                                      .initializer(raw_tensor<float>("w", {1}, {1})));
  EXPECT_THAT(names_of(model->main, model->main.outputs), ElementsAre("x", "w"));
}

TEST(ImportGraph, SparseInitialisersAreRefusedWhereTheyAreRead) {
  const auto model =
      import_graph(GraphWriter()
                       .input("x", f32, {4})
                       .output("y", f32, {4})
                       .node(NodeWriter("Add", {"x", "w"}, {"y"}))
                       .sparse_initializer(raw_tensor<float>("w", {1}, {1}),
                                           raw_tensor<std::int64_t>("", {1}, {2}), {4}));
  const auto& stored = value_named(model->main, "w").stored;
  ASSERT_NE(stored, nullptr);
  EXPECT_TRUE(std::holds_alternative<Unreadable>(stored->source));
}

TEST(ImportGraph, VersionBeforeImportsExistedIsOne) {
  const auto model = import_model(
      ModelWriter().ir_version(2).no_opset().graph(graph_of({NodeWriter("Relu", {"x"}, {"y"})})));
  EXPECT_EQ(model->main.nodes.at(0).opset, 1);
  expect_error(
      [] {
        return import_model(
            ModelWriter().no_opset().graph(graph_of({NodeWriter("Relu", {"x"}, {"y"})})));
      },
      ErrorKind::bad_input, {"opset_import", "Relu"});
}

}  // namespace
}  // namespace plimsoll::tensor::test
