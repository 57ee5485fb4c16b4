// Where a planned step's operands are in memory, and how a graph operator sees them. Why it exists:
// whole steps and strips of rows share it. May touch: plan/stage_plan.h, encode/encoding.h,
// operators/operator.h.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tensor/encode/encoding.h"
#include "tensor/operators/operator.h"
#include "tensor/plan/kernel_node.h"
#include "tensor/plan/stage_plan.h"

namespace plimsoll::tensor {

/// The memory of one stage. Everything is borrowed.
struct StageMemory {
  const Program& program;
  std::byte* arena = nullptr;
  std::span<std::byte* const> externals;
  std::span<const std::shared_ptr<const EncodedWeight>> weights;

  [[nodiscard]] KernelOperand operand(const Place& place, ValueId id) const;
};

/// One step's operands for a graph operator.
class StepContext : public RunContext {
 public:
  StepContext(const Node& node, std::span<const KernelOperand> inputs,
              std::span<const KernelOperand> outputs, std::span<std::byte> scratch,
              kernels::ThreadPool& threads)
      : node_(node), inputs_(inputs), outputs_(outputs), scratch_(scratch), threads_(threads) {}
  [[nodiscard]] const Node& node() const override { return node_; }
  [[nodiscard]] ConstTensorView input(std::size_t index) const override {
    const KernelOperand& operand = inputs_[index];
    return {operand.type.element, operand.type.shape, operand.data};
  }
  [[nodiscard]] TensorView output(std::size_t index) const override {
    const KernelOperand& operand = outputs_[index];
    return {operand.type.element, operand.type.shape, operand.data};
  }
  [[nodiscard]] std::span<std::byte> scratch() const override { return scratch_; }
  [[nodiscard]] kernels::ThreadPool& threads() const override { return threads_; }

 private:
  const Node& node_;
  std::span<const KernelOperand> inputs_;
  std::span<const KernelOperand> outputs_;
  std::span<std::byte> scratch_;
  kernels::ThreadPool& threads_;
};

}  // namespace plimsoll::tensor
