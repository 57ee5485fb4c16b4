// A graph made in a test, run lowered and not lowered. Why it exists: lowering must not change
// results, whatever kernels it picks. May touch: support/, plan/lowering.h, run/execution.h.
//
//   GraphCase graph;
//   const ValueId x = graph.input({2, 8});
//   graph.output(graph.node("Sigmoid", {x}));
//   graph.expect_lowered({"Sigmoid"}, {.relative = 1e-6});
#pragma once

#include <string>
#include <vector>

#include "support/compare.h"
#include "support/single_node.h"
#include "tensor/kernels/target.h"

namespace plimsoll::tensor::test {

/// `count` numbers in [low, high), the same for the same seed.
[[nodiscard]] std::vector<float> random_floats(std::int64_t count, std::uint32_t seed,
                                               float low = -2, float high = 2);

class GraphCase {
 public:
  /// `opset`: of the nodes.
  explicit GraphCase(int opset = 17) : opset_(opset) {}

  /// An f32 input with random values.
  ValueId input(const Shape& shape, float low = -2, float high = 2);
  ValueId input(TensorPointer value);
  /// An initialiser with random values, or with those given.
  ValueId weight(const Shape& shape, float low = -1, float high = 1);
  ValueId weight(const TensorPointer& value);
  ValueId number(float value) { return weight(scalar(value)); }

  using Attributes = std::map<std::string, AttributeValue, std::less<>>;
  ValueId node(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {},
               int opset = 0);
  /// A node of several results.
  std::vector<ValueId> nodes(const std::string& op, std::vector<ValueId> inputs,
                             std::size_t outputs, Attributes attributes = {});
  void output(ValueId value) { graph_.outputs.push_back(value); }

  /// Kernels of the lowered program, in order: a kernel node's name, else the operator.
  [[nodiscard]] std::vector<std::string> lowered(kernels::Target target) const;
  /// For every target of this CPU: the program consists of `kernels`, its results are within
  /// `tolerance` of the interpreter's, and two threads give the bits of one.
  void expect_lowered(const std::vector<std::string>& kernels, Tolerance tolerance) const;
  /// The same, whatever the program consists of.
  void expect_results(Tolerance tolerance) const;
  /// Of an input.
  [[nodiscard]] Shape shape_of(ValueId input) const;
  [[nodiscard]] std::shared_ptr<const Graph> graph() const {
    return std::make_shared<const Graph>(graph_);
  }

 private:
  struct Result {
    std::uint64_t arena_bytes = 0;
    std::uint64_t arena_bytes_unplaced = 0;  ///< with every part copied
    std::vector<std::string> kernels;
    std::vector<TensorPointer> outputs;
  };
  [[nodiscard]] Result run(kernels::Target target, int threads) const;
  void compare(const std::vector<std::string>* kernels, Tolerance tolerance) const;

  Graph graph_;
  int opset_;
  std::vector<DynamicValue> inputs_;
  std::uint32_t seed_ = 1;
};

}  // namespace plimsoll::tensor::test
