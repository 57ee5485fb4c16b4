// What the standard forbids is refused with Error(bad_input) before anything is computed, and what
// inference cannot know yet is asked for by input.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/single_node.h"
#include "tensor/operators/checks.h"

namespace plimsoll::tensor::test {
namespace {

using Integers = std::vector<std::int64_t>;

const TensorPointer matrix = tensor<float>({2, 3}, std::vector<float>(6, 1.0F));
const TensorPointer row = vector_of<float>({1, 2, 3});
const TensorPointer truth = vector_of<Boolean>({Boolean{1}, Boolean{0}});

struct Fault {
  const char* name;
  SingleNode node;
  ErrorKind kind = ErrorKind::bad_input;
};

std::vector<Fault> faults() {
  std::vector<Fault> list;
  const auto add = [&list](const char* name, SingleNode node,
                           ErrorKind kind = ErrorKind::bad_input) {
    list.push_back({name, std::move(node), kind});
  };
  add("booleans have no root", SingleNode("Sqrt", 13).input(truth));
  add("too many inputs", SingleNode("Sqrt", 13).input(row).input(row));
  add("an input is missing", SingleNode("Add", 14).input(row));
  add("an input is omitted", SingleNode("Add", 14).input(row).no_input());
  add("two element types", SingleNode("Add", 14).input(row).input(integers({1, 2, 3})));
  add("shapes do not broadcast", SingleNode("Add", 14).input(matrix).input(integers({1, 2})));
  add("floats with fmod 0", SingleNode("Mod", 13).input(row).input(row));
  add("a direction of no name", SingleNode("BitShift", 11)
                                    .attribute("direction", std::string("UP"))
                                    .input(vector_of<std::uint8_t>({1}))
                                    .input(vector_of<std::uint8_t>({1})));
  add("an attribute of another type",
      SingleNode("LeakyRelu", 6).attribute("alpha", std::string("much")).input(row));
  add("a slope that is larger", SingleNode("PRelu", 16).input(row).input(matrix));
  add("a new shape of another size",
      SingleNode("Reshape", 13).input(matrix).input(integers({4, 2})));
  add("two open dimensions", SingleNode("Reshape", 13).input(matrix).input(integers({-1, -1})));
  add("a dimension that is not there to keep",
      SingleNode("Reshape", 13).input(row).input(integers({3, 0})));
  add("a negative dimension", SingleNode("Reshape", 13).input(matrix).input(integers({-2, -3})));
  add("a product that overflows",
      SingleNode("Reshape", 13).input(matrix).input(integers({1LL << 40, 1LL << 40})));
  add("squeezing what is not 1", SingleNode("Squeeze", 13).input(matrix).input(integers({0})));
  add("an axis twice", SingleNode("Unsqueeze", 13).input(row).input(integers({0, -3})));
  add("an axis outside",
      SingleNode("Flatten", 13).attribute("axis", std::int64_t{3}).input(matrix));
  add("no permutation",
      SingleNode("Transpose", 13).attribute("perm", Integers{0, 0}).input(matrix));
  add("joining without an axis", SingleNode("Concat", 13).input(row).input(row));
  add("joining other shapes", SingleNode("Concat", 13)
                                  .attribute("axis", std::int64_t{0})
                                  .input(matrix)
                                  .input(tensor<float>({2, 2}, {1, 2, 3, 4})));
  add("parts that do not fill",
      SingleNode("Split", 13).input(row).input(integers({1, 1})).outputs(2));
  add("parts of negative size",
      SingleNode("Split", 13).input(row).input(integers({4, -1})).outputs(2));
  add("a step of 0", SingleNode("Slice", 13)
                         .input(row)
                         .input(integers({0}))
                         .input(integers({2}))
                         .input(integers({0}))
                         .input(integers({0})));
  add("starts without ends",
      SingleNode("Slice", 13).input(row).input(integers({0})).input(integers({})));
  add("a mode of no name", SingleNode("Pad", 13)
                               .attribute("mode", std::string("mirror"))
                               .input(row)
                               .input(integers({1, 1})));
  add("wrap before its version", SingleNode("Pad", 18)
                                     .attribute("mode", std::string("wrap"))
                                     .input(row)
                                     .input(integers({1, 1})));
  add("pads for half of the dimensions",
      SingleNode("Pad", 13).input(matrix).input(integers({1, 1})));
  add("cutting more than there is", SingleNode("Pad", 13).input(row).input(integers({-4, 5})));
  add("pads beyond any size",
      SingleNode("Pad", 13).input(row).input(integers({1LL << 62, 1LL << 62})));
  add("reflecting nothing", SingleNode("Pad", 13)
                                .attribute("mode", std::string("reflect"))
                                .input(tensor<float>({0}, {}))
                                .input(integers({1, 1})));
  add("repeats that overflow", SingleNode("Tile", 13).input(row).input(integers({INT64_MAX})));
  add("expanding to less", SingleNode("Expand", 13).input(row).input(integers({2})));
  add("channels that do not divide", SingleNode("DepthToSpace", 13)
                                         .attribute("blocksize", std::int64_t{2})
                                         .input(tensor<float>({1, 3, 1, 1}, {1, 2, 3})));
  add("an index outside", SingleNode("Gather", 13).input(row).input(integers({3})));
  add("a negative index outside", SingleNode("Gather", 13).input(row).input(integers({-4})));
  add("floats as indices", SingleNode("Gather", 13).input(row).input(row));
  add("coordinates outside",
      SingleNode("GatherND", 13).input(matrix).input(tensor<std::int64_t>({1, 2}, {1, 3})));
  add("too many coordinates",
      SingleNode("GatherND", 13).input(row).input(tensor<std::int64_t>({1, 2}, {0, 0})));
  add("indices larger than the data", SingleNode("GatherElements", 13)
                                          .attribute("axis", std::int64_t{1})
                                          .input(matrix)
                                          .input(tensor<std::int64_t>({3, 1}, {0, 0, 0})));
  add("updates of another shape", SingleNode("ScatterElements", 16)
                                      .input(row)
                                      .input(integers({0}))
                                      .input(vector_of<float>({1, 2})));
  add("a reduction of no name", SingleNode("ScatterElements", 16)
                                    .attribute("reduction", std::string("max"))
                                    .input(row)
                                    .input(integers({0}))
                                    .input(vector_of<float>({1})));
  add("scattering outside", SingleNode("ScatterND", 16)
                                .input(row)
                                .input(tensor<std::int64_t>({1, 1}, {5}))
                                .input(vector_of<float>({1})));
  add("one value for on and off", SingleNode("OneHot", 11)
                                      .input(integers({0}))
                                      .input(scalar<std::int64_t>(3))
                                      .input(vector_of<float>({1})));
  add("a negative depth", SingleNode("OneHot", 11)
                              .input(integers({0}))
                              .input(scalar<std::int64_t>(-3))
                              .input(vector_of<float>({0, 1})));
  add("axes outside", SingleNode("ReduceSum", 13).input(row).input(integers({1})));
  add("the largest of nothing", SingleNode("ArgMax", 13).input(tensor<float>({0}, {})));
  add("more than there is", SingleNode("TopK", 11).input(row).input(integers({4})).outputs(2));
  add("a negative size", SingleNode("ConstantOfShape", 9).input(integers({2, -1})));
  add("a range without end",
      SingleNode("Range", 11).input(scalar(0.0F)).input(scalar(1.0F)).input(scalar(1e-30F)));
  add("overlap beyond 1", SingleNode("NonMaxSuppression", 11)
                              .input(tensor<float>({1, 1, 4}, {0, 0, 1, 1}))
                              .input(tensor<float>({1, 1, 1}, {1}))
                              .input(scalar<std::int64_t>(1))
                              .input(scalar(2.0F)));
  add("sequence lengths outside",
      SingleNode("ReverseSequence", 10).input(matrix).input(integers({3, 1, 1})));
  add("a position in an empty sequence", SingleNode("SequenceConstruct", 11));
  add("a cast to what this build lacks",
      SingleNode("Cast", 19).attribute("to", std::int64_t{17}).input(row), ErrorKind::unsupported);
  add("a cast to strings", SingleNode("Cast", 19).attribute("to", std::int64_t{8}).input(row),
      ErrorKind::unsupported);
  add("an operator of no name", SingleNode("Frobnicate", 13).input(row), ErrorKind::unsupported);
  return list;
}

TEST(Faults, AreRefusedWithTheRightBlame) {
  for (const Fault& fault : faults()) {
    try {
      static_cast<void>(fault.node.run());
      ADD_FAILURE() << fault.name << ": nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), fault.kind) << fault.name << ": " << error.message();
      EXPECT_FALSE(error.message().empty()) << fault.name;
    }
  }
}

/// Knows types, but no values.
class TypesOnly : public InferContext {
 public:
  TypesOnly(Node node, std::vector<TensorType> types)
      : node_(std::move(node)), types_(std::move(types)) {
    for (std::size_t index = 0; index < types_.size(); ++index) {
      node_.inputs.push_back(static_cast<ValueId>(index));
    }
    node_.outputs = {100, 101};
  }
  [[nodiscard]] const Node& node() const override { return node_; }
  [[nodiscard]] const TensorType& input(std::size_t index) const override {
    return types_.at(index);
  }
  [[nodiscard]] std::optional<ConstTensorView> known_value(std::size_t /*index*/) const override {
    return std::nullopt;
  }
  void set_output(std::size_t /*index*/, ElementType /*element*/, const Shape& /*shape*/) override {
    done = true;
  }
  bool done = false;

 private:
  Node node_;
  std::vector<TensorType> types_;
};

TEST(Inference, AsksForTheValueThatDecidesTheShape) {
  const TensorType data{ElementType::f32, Shape{2, 3}};
  const TensorType numbers{ElementType::i64, Shape{2}};
  const TensorType number{ElementType::i64, Shape{}};
  struct Case {
    const char* op;
    std::vector<TensorType> types;
    std::size_t asked;
  };
  const std::vector<Case> cases{
      {"Reshape", {data, numbers}, 1},
      {"Expand", {data, numbers}, 1},
      {"Tile", {data, numbers}, 1},
      {"ConstantOfShape", {numbers}, 0},
      {"Range", {number, number, number}, 0},
      {"NonZero", {data}, 0},
      {"TopK", {data, number}, 1},
      {"OneHot", {numbers, number, numbers}, 1},
      {"Pad", {data, numbers}, 1},
      {"Slice", {data, numbers, numbers}, 1},
  };
  for (const Case& one : cases) {
    Node node;
    node.op_type = one.op;
    node.opset = 13;
    TypesOnly context(node, one.types);
    const Operator* op = OperatorTable::builtin().find("", one.op, 13);
    try {
      op->infer(context);
      ADD_FAILURE() << one.op << " did not ask";
    } catch (const ValueNeeded& needed) {
      EXPECT_EQ(needed.input, one.asked) << one.op;
    }
    EXPECT_FALSE(context.done) << one.op;
  }
}

TEST(Inference, NeedsNoValuesWhereTypesAreEnough) {
  const TensorType data{ElementType::f32, Shape{2, 3}};
  const TensorType numbers{ElementType::i64, Shape{2}};
  const TensorType number{ElementType::i64, Shape{}};
  struct Case {
    const char* op;
    std::vector<TensorType> types;
  };
  const std::vector<Case> cases{
      {"Add", {data, data}},      {"Gather", {data, numbers}},
      {"CumSum", {data, number}}, {"Clip", {data}},
      {"Trilu", {data, number}},  {"Where", {{ElementType::boolean, Shape{3}}, data, data}},
      {"Shape", {data}},          {"Transpose", {data}}};
  for (const Case& one : cases) {
    Node node;
    node.op_type = one.op;
    node.opset = 16;
    TypesOnly context(node, one.types);
    OperatorTable::builtin().find("", one.op, 16)->infer(context);
    EXPECT_TRUE(context.done) << one.op;
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
