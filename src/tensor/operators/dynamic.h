// What a dynamic operator sees: sequences, optionals, Loop, Scan. Why it exists: their outputs have
// no size before they run, so they are executed between planned stages with memory that the runner
// owns. May touch: operator.h, memory/block.h.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "memory/block.h"
#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

/// A tensor with memory of its own (a Block from 64 KiB, the heap below), under a reservation; or
/// the caller's memory, which is only read.
struct OwnedTensor {
  TensorType type;
  memory::Block block;
  std::vector<std::byte> heap;
  const std::byte* borrowed = nullptr;

  [[nodiscard]] std::byte* data() { return block.data() != nullptr ? block.data() : heap.data(); }
  [[nodiscard]] const std::byte* data() const {
    if (borrowed != nullptr) return borrowed;
    return block.data() != nullptr ? block.data() : heap.data();
  }
  [[nodiscard]] ConstTensorView view() const { return {type.element, type.shape, data()}; }
  [[nodiscard]] TensorView view() { return {type.element, type.shape, data()}; }
};

/// Shared because sequences of sequences' elements are never changed in place.
struct SequenceValue {
  ElementType element = ElementType::undefined;
  std::vector<std::shared_ptr<const OwnedTensor>> items;
};

/// monostate: an optional without a value.
using DynamicValue = std::variant<std::monostate, std::shared_ptr<const OwnedTensor>,
                                  std::shared_ptr<const SequenceValue>>;

/// Thrown inside a run when the session's budget refuses; becomes the Refusal that run() returns.
/// Not an Error: it never crosses the public API.
struct OutOfBudget {
  Refusal refusal;
};

class DynamicContext {
 public:
  virtual ~DynamicContext() = default;
  [[nodiscard]] virtual const Node& node() const = 0;
  [[nodiscard]] bool has_input(std::size_t index) const {
    return index < node().inputs.size() && node().inputs[index] != no_value;
  }
  [[nodiscard]] virtual DynamicValue input(std::size_t index) const = 0;
  /// The input as a tensor or sequence; throws Error(bad_input) when it is something else.
  [[nodiscard]] ConstTensorView tensor(std::size_t index) const;
  [[nodiscard]] const SequenceValue& sequence(std::size_t index) const;
  /// A new tensor, contents undefined. Throws OutOfBudget.
  [[nodiscard]] virtual std::shared_ptr<OwnedTensor> allocate(const TensorType& type) = 0;
  virtual void set_output(std::size_t index, DynamicValue value) = 0;
  /// Runs a subgraph of this node's attributes; captures are bound by the runner.
  [[nodiscard]] virtual std::vector<DynamicValue> run_subgraph(
      const Graph& graph, std::vector<DynamicValue> inputs) = 0;
  [[nodiscard]] virtual kernels::ThreadPool& threads() = 0;
};

}  // namespace plimsoll::tensor
