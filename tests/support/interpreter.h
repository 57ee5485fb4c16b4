// A naive interpreter of graphs. Why it exists: it runs node by node with the operator table, each
// value in memory of its own, nothing planned and nothing fused, so it is what passes, plans and
// kernels are compared with. May touch: graph/, operators/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tensor/graph/graph.h"
#include "tensor/operators/dynamic.h"
#include "tensor/operators/operator.h"

namespace plimsoll::tensor::test {

/// A tensor on the heap with a copy of the view's bytes.
[[nodiscard]] std::shared_ptr<OwnedTensor> copy_of(const ConstTensorView& view);
/// A tensor on the heap, every byte 0xCD: what is not written shows.
[[nodiscard]] std::shared_ptr<OwnedTensor> make_tensor(const TensorType& type);
/// All elements of a stored tensor.
[[nodiscard]] std::shared_ptr<OwnedTensor> read_stored(const StoredTensor& stored);

class Interpreter {
 public:
  struct Options {
    int threads = 1;
    /// Outputs take the memory of a copied input wherever the operator allows it.
    bool in_place = false;
  };

  Interpreter() : Interpreter(Options{}) {}
  explicit Interpreter(Options options, const OperatorTable& table = OperatorTable::builtin());

  /// `inputs` in the order of graph.inputs; the outputs in the order of graph.outputs. Throws what
  /// operators throw, with the node's label in front, and Error(unsupported) for operators that the
  /// table lacks.
  [[nodiscard]] std::vector<DynamicValue> run(const Graph& graph, std::vector<DynamicValue> inputs);

 private:
  using Values = std::vector<std::optional<DynamicValue>>;
  friend class SubgraphContext;

  std::vector<DynamicValue> run_scope(const Graph& graph, std::vector<DynamicValue> inputs,
                                      const Values* outer);
  void run_node(const Graph& graph, const Node& node, Values& values);
  void run_planned(const Node& node, const Operator& op, Values& values);
  void run_branch(const Node& node, Values& values);

  Options options_;
  const OperatorTable& table_;
  kernels::ThreadPool threads_;
};

}  // namespace plimsoll::tensor::test
