// From an imported graph to concrete stages. Why it exists: shapes and small values of the inputs
// decide everything that planning needs; what depends on computed data is left for a later stage.
// May touch: graph/, operators/.
//
// How it goes: nodes are taken in order. One whose input types are known is inferred; one whose
// inputs are all small and known is folded (bounded, see fold_limit_bytes); Identity, and
// Transpose, Reshape or Cast of a weight, become views; an If with a known condition is replaced by
// its branch. A node that needs a value not computed yet is left pending, with all that reads it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tensor/graph/program.h"

namespace plimsoll::tensor {

/// Folding keeps a result only up to this size, and reads stored tensors only up to it. Large
/// enough for shape arithmetic, biases and normalisation vectors (4,096 floats); the largest model
/// at hand (rxnmap, 1,500 nodes) folds 70 KB in all.
inline constexpr std::uint64_t fold_limit_bytes = 16 * 1024;

/// What is known of a graph input.
struct InputFacts {
  TensorType type;
  const std::byte* value = nullptr;  ///< where small (see small_input) and given
  bool dynamic = false;              ///< a sequence
};
/// Inputs whose values may decide shapes and branches, and so belong to the plan's key: integers
/// and booleans of rank 0 or 1 with at most 16 elements (sampling rates, target shapes).
[[nodiscard]] bool is_small_input(const TensorType& type);

/// One run of a graph, stage by stage.
class Instance {
 public:
  /// `graph` must outlive the instance (shared). `captured`: for subgraphs, values by inner id.
  Instance(std::shared_ptr<const Graph> graph, const OperatorTable& table);

  void set_input(ValueId graph_value, const InputFacts& facts);
  /// Planning only: decides an If whose condition an earlier stage has computed but nobody knows.
  void assume_branches(std::function<bool(const Node&)> decide) { decide_ = std::move(decide); }
  /// For subgraphs of dynamic operators: binds a captured value like an input.
  [[nodiscard]] const Graph& graph() const { return *graph_; }

  /// Specialises what can be, into the next stage's program (values are shared with earlier ones).
  /// The reference is valid until the next call.
  Program& advance();
  /// Dynamic nodes whose inputs all have memory now; the runner executes them and then calls
  /// `materialise` for their outputs, before the next advance().
  [[nodiscard]] std::vector<ProgramNode> take_ready_dynamic();
  /// The value now has memory (dynamic ones: none, but exist).
  void materialise(ValueId value, const TensorType& type, const std::byte* memory, bool dynamic);
  [[nodiscard]] bool complete() const { return pending_.empty(); }
  /// What the first pending node waits for, in words.
  [[nodiscard]] std::string waiting_for() const;
  /// Program value of a graph output, aliases resolved.
  [[nodiscard]] std::vector<ValueId> outputs() const;
  [[nodiscard]] Program& program() { return program_; }
  /// Follows aliases (Identity, inlined branch outputs).
  [[nodiscard]] ValueId resolve(ValueId value) const;
  /// Program values of the graph's own values.
  [[nodiscard]] ValueId program_value(ValueId graph_value) const { return main_[graph_value]; }
  /// Values that a pending node reads directly or in a subgraph.
  [[nodiscard]] std::vector<ValueId> pending_reads() const;
  /// For a dynamic node's subgraph: program value of each capture.
  [[nodiscard]] std::vector<ValueId> captures_of(const ProgramNode& node, const Graph& body) const;

 private:
  struct Pending {
    std::shared_ptr<const Node> node;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    /// Values of the graph that the node stands in, for its subgraphs' captures.
    std::shared_ptr<const std::vector<ValueId>> scope;
  };
  friend class SpecializeInferContext;

  std::vector<ValueId> add_graph_values(const std::shared_ptr<const Graph>& graph);
  void add_nodes(const std::shared_ptr<const Graph>& graph,
                 const std::shared_ptr<const std::vector<ValueId>>& scope,
                 std::vector<Pending>& destination) const;
  enum class Outcome : std::uint8_t { done, deferred };
  Outcome process(const Pending& pending, std::vector<Pending>& deferred);
  bool inline_branch(const Pending& pending, std::vector<Pending>& deferred);
  bool view_of_weight(const Pending& pending);
  bool fold(const ProgramNode& node, std::uint64_t scratch_bytes);
  [[nodiscard]] bool has_value(ValueId value) const;
  void remove_dead_nodes();

  std::shared_ptr<const Graph> graph_;
  const OperatorTable& table_;
  Program program_;
  std::vector<ValueId> main_;   // graph value → program value
  std::vector<ValueId> alias_;  // program value → what it stands for; itself if none
  std::vector<Pending> pending_;
  // Scopes of dynamic nodes that were handed out, for captures_of.
  std::map<const Node*, std::shared_ptr<const std::vector<ValueId>>> scopes_;
  std::string waiting_for_;
  std::function<bool(const Node&)> decide_;  // may be empty
};

/// known bytes of a value: constants, small inputs, small weights (read now), materialised memory.
[[nodiscard]] std::optional<ConstTensorView> known_value(Program& program, ValueId value);

}  // namespace plimsoll::tensor
