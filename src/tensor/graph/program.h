// A graph specialised for given shapes: every value has one known type and shape. Why it exists:
// fusing, layout and planning work on concrete numbers only. May touch: graph.h,
// operators/operator.h.
//
// One Program is one stage: the part of the model whose shapes are known now. Values keep their
// numbers from stage to stage of one Instance (see specialize.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tensor/graph/graph.h"
#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

/// A weight as the graph reads it: its source elements under transposition, reshaping and casting.
/// Nothing of it is in memory.
struct WeightView {
  std::shared_ptr<const StoredTensor> stored;
  TensorType type;                    ///< after the transformations
  std::vector<std::int64_t> strides;  ///< per dimension of type.shape, in source elements

  [[nodiscard]] static WeightView of(std::shared_ptr<const StoredTensor> stored);
  [[nodiscard]] bool dense() const;  ///< row-major, contiguous
  [[nodiscard]] std::optional<WeightView> reshaped(const Shape& shape) const;  ///< dense ones only
  [[nodiscard]] WeightView transposed(std::span<const std::int64_t> permutation) const;
  friend bool operator==(const WeightView&, const WeightView&) = default;
};

/// How a value's elements lie in memory. `channels_last`: the shape stays N×C×H×W (or N×C×L) in the
/// graph, memory is N×H×W×C.
enum class Layout : std::uint8_t { row_major, channels_last };

enum class ValueKind : std::uint8_t {
  activation,    ///< computed by a node of this stage
  input,         ///< the caller's memory
  constant,      ///< small bytes, known now
  weight,        ///< a view of a stored tensor
  materialised,  ///< computed by an earlier stage or a dynamic operator; memory is the runner's
  absent,        ///< not known yet: belongs to a later stage
};

using ConstantBytes = std::shared_ptr<const std::vector<std::byte>>;

struct ProgramValue {
  std::string name;
  TensorType type;
  ValueKind kind = ValueKind::absent;
  Layout layout = Layout::row_major;
  ConstantBytes constant;             ///< for constants, and inputs whose small value is known
  std::optional<WeightView> weight;   ///< for weights
  const std::byte* memory = nullptr;  ///< for materialised tensors; null for sequences
  bool dynamic = false;               ///< a sequence or optional: only dynamic operators read it
};

struct KernelNode;  // plan/kernel_node.h: what fusion made of one or more nodes

struct ProgramNode {
  std::shared_ptr<const Node> definition;  ///< attributes and label; aliasing pointer to its graph
  const Operator* op = nullptr;            ///< null where `kernel` is set
  std::shared_ptr<const KernelNode> kernel;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  [[nodiscard]] std::string label() const { return definition ? definition->label() : "fused"; }
};

struct Program {
  std::vector<ProgramValue> values;
  std::vector<ProgramNode> nodes;  ///< in execution order
  std::vector<ValueId>
      live_out;  ///< needed after this stage: model outputs and later stages' reads
};

}  // namespace plimsoll::tensor
