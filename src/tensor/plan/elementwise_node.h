// A chain of elementwise operators in one pass over memory. Why it exists: each operator by itself
// reads and writes its whole operands; here all of them work on a block of a few KiB while it is in
// the first-level cache. May touch: kernel_node.h, kernels/table.h.
//
// A program of steps: each reads inputs, numbers and earlier steps' results, and the last step's
// result is the output. Inputs are repeated along dimensions that they lack, as in the standard's
// broadcasting.
#pragma once

#include <array>
#include <vector>

#include "tensor/kernels/map.h"
#include "tensor/kernels/target.h"
#include "tensor/plan/kernel_node.h"

namespace plimsoll::tensor {

/// What a step reads.
struct StepOperand {
  enum class Kind : std::uint8_t { none, input, step, number };
  Kind kind = Kind::none;
  std::size_t index = 0;  ///< of the input or step
  float number = 0;
};

struct ElementwiseStep {
  kernels::MapOperation operation = kernels::MapOperation::add;
  StepOperand a;
  StepOperand b;  ///< none for an activation
  kernels::Activation activation = kernels::Activation::none;
  float low = 0;
  float high = 0;
};

struct ElementwiseNode : KernelNode {
  static constexpr std::size_t most_inputs = 4;
  static constexpr std::size_t most_steps = 12;

  kernels::Target target = kernels::Target::generic;
  std::vector<ElementwiseStep> steps;
  /// The input that has the output's shape and may be overwritten; −1: none.
  int overwritten = -1;

  [[nodiscard]] Encoding encoding(std::size_t input, const WeightView& view) const override;
  [[nodiscard]] std::uint64_t scratch_bytes(int threads) const override;
  [[nodiscard]] int in_place_input() const override { return overwritten; }
  void run(const KernelContext& context) const override;
  [[nodiscard]] bool row_wise() const override { return true; }
  [[nodiscard]] std::optional<RowRange> input_rows(std::size_t input,
                                                   RowRange output) const override;
  void run_rows(const KernelContext& context, RowRange range) const override;

  /// Whether each input has rows of its own, for outputs of rank 4.
  std::array<bool, most_inputs> has_rows{};

 private:
  class Worker;
};

}  // namespace plimsoll::tensor
