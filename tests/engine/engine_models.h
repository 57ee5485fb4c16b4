// Small models that the engine's tests run. Why it exists: each test then says only what must come
// of them. May touch: tests/support.
#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "plimsoll/tensor_view.h"
#include "support/onnx_writer.h"
#include "support/temporary_folder.h"

namespace plimsoll::engine_test {

using tensor::test::Declared;
using tensor::test::GraphWriter;
using tensor::test::ModelWriter;
using tensor::test::NodeWriter;
using tensor::test::raw_tensor;

/// A folder with one model in it, gone with it.
class ModelFile {
 public:
  explicit ModelFile(const GraphWriter& graph) { ModelWriter().graph(graph).write(path()); }
  [[nodiscard]] std::string path() const { return folder_.file("model.onnx"); }

 private:
  tensor::test::TemporaryFolder folder_;
};

/// y = x + w, x of [n, 4].
inline GraphWriter add_model() {
  return GraphWriter()
      .input("x", ElementType::f32, {"n", 4})
      .initializer(raw_tensor<float>("w", {4}, {1, 2, 3, 4}))
      .node(NodeWriter("Add", {"x", "w"}, {"y"}).name("add"))
      .output("y", ElementType::f32, {"n", 4});
}

/// y = x · w, w of [rows, columns] (all 1): a weight worth measuring.
inline GraphWriter product_model(std::int64_t rows, std::int64_t columns) {
  return GraphWriter()
      .input("x", ElementType::f32, {"n", rows})
      .initializer(raw_tensor<float>(
          "w", {rows, columns}, std::vector<float>(static_cast<std::size_t>(rows * columns), 1)))
      .node(NodeWriter("MatMul", {"x", "w"}, {"h"}).name("product"))
      .node(NodeWriter("Relu", {"h"}, {"y"}).name("relu"))
      .output("y", ElementType::f32, {"n", columns});
}

/// next = state × 0.5 + x; y = next + 1. Both of [n].
inline GraphWriter state_model() {
  return GraphWriter()
      .input("x", ElementType::f32, {"n"})
      .input("state", ElementType::f32, {"n"})
      .initializer(raw_tensor<float>("half", {1}, {0.5F}))
      .initializer(raw_tensor<float>("one", {1}, {1}))
      .node(NodeWriter("Mul", {"state", "half"}, {"halved"}))
      .node(NodeWriter("Add", {"halved", "x"}, {"next"}))
      .node(NodeWriter("Add", {"next", "one"}, {"y"}))
      .output("y", ElementType::f32, {"n"})
      .output("next", ElementType::f32, {"n"});
}

/// A chain of `length` Cos of x [n, 4], for runs that take several steps.
inline GraphWriter chain_model(int length) {
  GraphWriter graph;
  graph.input("x", ElementType::f32, {"n", 4});
  std::string last = "x";
  for (int index = 0; index < length; ++index) {
    const std::string next = index + 1 == length ? "y" : "h" + std::to_string(index);
    // Cos joins no other node and is not computed on constants.
    graph.node(NodeWriter("Cos", {last}, {next}).name("step" + std::to_string(index)));
    last = next;
  }
  graph.output("y", ElementType::f32, {"n", 4});
  return graph;
}

/// y = what NonZero finds in x [n]: its size depends on data. A product of `columns` columns
/// follows.
inline GraphWriter staged_model(std::int64_t columns) {
  return GraphWriter()
      .input("x", ElementType::f32, {"n"})
      .initializer(raw_tensor<float>("w", {1, columns},
                                     std::vector<float>(static_cast<std::size_t>(columns), 2)))
      .node(NodeWriter("NonZero", {"x"}, {"places"}).name("places"))
      .node(NodeWriter("Transpose", {"places"}, {"rows"}).integers("perm", {1, 0}))
      .node(NodeWriter("Cast", {"rows"}, {"numbers"}).integer("to", 1))
      .node(NodeWriter("MatMul", {"numbers", "w"}, {"y"}).name("spread"))
      .output("y", ElementType::f32, {"found", columns});
}

/// y = small or large way from x [n], by a condition that the model computes from x.
inline GraphWriter branch_model(std::int64_t columns) {
  const GraphWriter small =
      GraphWriter()
          .node(NodeWriter("ReduceSum", {"column"}, {"small"}).integer("keepdims", 0))
          .output("small", ElementType::f32, {});
  const GraphWriter large =
      GraphWriter()
          .initializer(raw_tensor<float>("w", {1, columns},
                                         std::vector<float>(static_cast<std::size_t>(columns), 2)))
          .node(NodeWriter("MatMul", {"column", "w"}, {"wide"}))
          .node(NodeWriter("Sigmoid", {"wide"}, {"bent"}))
          .node(NodeWriter("ReduceSum", {"bent"}, {"large"}).integer("keepdims", 0))
          .output("large", ElementType::f32, {});
  return GraphWriter()
      .input("x", ElementType::f32, {"n"})
      .initializer(raw_tensor<float>("zero", {}, {0}))
      .initializer(raw_tensor<std::int64_t>("column_shape", {2}, {-1, 1}))
      .node(NodeWriter("Reshape", {"x", "column_shape"}, {"column"}))
      .node(NodeWriter("ReduceSum", {"x"}, {"sum"}).integer("keepdims", 0))
      .node(NodeWriter("Greater", {"sum", "zero"}, {"condition"}))
      .node(NodeWriter("If", {"condition"}, {"y"})
                .name("choice")
                .graph("then_branch", large)
                .graph("else_branch", small))
      .output("y", ElementType::f32, {});
}

/// y [n, columns]: a Loop that runs as often as the input `count` says, unknown when planning: the
/// count is computed. Each turn adds 1 to all of y.
inline GraphWriter loop_model(std::int64_t columns) {
  const GraphWriter body =
      GraphWriter()
          .input("turn", ElementType::i64, {})
          .input("go_on", ElementType::boolean, {})
          .input("carried", ElementType::f32, {"n", columns})
          .initializer(raw_tensor<float>("one", {}, {1}))
          .node(NodeWriter("Add", {"carried", "one"}, {"raised"}).name("raise"))
          .node(NodeWriter("Identity", {"go_on"}, {"still"}))
          .output("still", ElementType::boolean, {})
          .output("raised", ElementType::f32, {"n", columns});
  return GraphWriter()
      .input("x", ElementType::f32, {"n", columns})
      .input("count", ElementType::f32, {})
      .node(NodeWriter("Cast", {"count"}, {"turns"}).integer("to", 7))
      .node(NodeWriter("Loop", {"turns", "", "x"}, {"y"}).name("loop").graph("body", body))
      .output("y", ElementType::f32, {"n", columns});
}

/// Values in [0, 1) by a seed.
inline std::vector<float> random_floats(std::size_t count, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

template <typename T>
[[nodiscard]] ConstTensorView view_of(const std::vector<T>& values, const Shape& shape) {
  return {tensor::test::element_of<T>(), shape, reinterpret_cast<const std::byte*>(values.data())};
}
template <typename T>
[[nodiscard]] TensorView room_in(std::vector<T>& values, const Shape& shape) {
  return {tensor::test::element_of<T>(), shape, reinterpret_cast<std::byte*>(values.data())};
}
[[nodiscard]] inline std::vector<float> floats_of(const ConstTensorView& view) {
  const auto values = view.span<float>();
  return {values.begin(), values.end()};
}

}  // namespace plimsoll::engine_test
