#include "tensor/run/strip_run.h"

#include <algorithm>
#include <chrono>

#include "plimsoll/error.h"
#include "tensor/plan/row_form.h"

namespace plimsoll::tensor {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Shape with_dimension(const Shape& shape, std::size_t axis, std::int64_t size) {
  std::vector<std::int64_t> dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions[axis] = size;
  return Shape(dimensions);
}

/// One step's operands for one batch item.
struct StepOperands {
  std::vector<KernelOperand> inputs;
  std::vector<bool> input_has_rows;
  std::vector<KernelOperand> outputs;
};

std::size_t row_bytes(const KernelOperand& operand) {
  const Shape& shape = operand.type.shape;
  return static_cast<std::size_t>(shape[2] * shape[3]) * element_size(operand.type.element);
}

/// The operand as batch item `item` of `items` sees it.
KernelOperand item_of(KernelOperand operand, std::int64_t item, std::int64_t items) {
  const Shape& shape = operand.type.shape;
  if (operand.ring_rows == 0) {
    operand.data += static_cast<std::size_t>(item * (shape.elements() / items)) *
                    element_size(operand.type.element);
  }
  operand.type.shape = with_dimension(shape, 0, 1);
  return operand;
}

class StripRun {
 public:
  StripRun(const StageMemory& memory, const StagePlan& plan, const PlannedGroup& group,
           kernels::ThreadPool& threads, const StripHooks& hooks)
      : memory_(memory),
        plan_(plan),
        group_(group),
        threads_(threads),
        hooks_(hooks),
        walk_(group.walk) {}

  void run() {
    for (std::int64_t item = 0; item < walk_.items(); ++item) {
      collect(item);
      walk_.restart();
      while (walk_.next(memory_.program)) {
        if (hooks_.before_round) hooks_.before_round();
        for (std::size_t step = 0; step < walk_.ranges().size(); ++step) {
          const RowRange rows = walk_.ranges()[step];
          if (rows.begin == rows.end) continue;
          const double begin = hooks_.timed ? now_seconds() : 0;
          run_step(step, rows);
          if (hooks_.timed) hooks_.timed(step, now_seconds() - begin);
        }
      }
    }
  }

 private:
  const PlannedStep& planned(std::size_t step) const { return plan_.steps[group_.first + step]; }
  const ProgramNode& node(std::size_t step) const {
    return memory_.program.nodes[planned(step).node];
  }

  void collect(std::int64_t item) {
    operands_.clear();
    const std::int64_t items = walk_.items();
    for (std::size_t step = 0; step < walk_.ranges().size(); ++step) {
      const ProgramNode& entry = node(step);
      StepOperands& operands = operands_.emplace_back();
      for (std::size_t index = 0; index < entry.inputs.size(); ++index) {
        KernelOperand operand = memory_.operand(planned(step).inputs[index], entry.inputs[index]);
        const Shape& shape = operand.type.shape;
        const bool rows = entry.inputs[index] != no_value &&
                          input_rows(memory_.program, entry, index, {0, 1}).has_value();
        // Weights of kernels belong to all items; other operands may have one part for each.
        const bool weight = entry.kernel != nullptr && entry.inputs[index] != no_value &&
                            memory_.program.values[entry.inputs[index]].kind == ValueKind::weight;
        const bool by_item = rows || !weight;
        if (by_item && shape.rank() == 4 && shape[0] == items) {
          operand = item_of(std::move(operand), item, items);
        }
        operands.inputs.push_back(std::move(operand));
        operands.input_has_rows.push_back(rows);
      }
      operands.outputs.push_back(
          item_of(memory_.operand(planned(step).outputs[0], entry.outputs[0]), item, items));
    }
  }

  void run_step(std::size_t step, RowRange rows) {
    const ProgramNode& entry = node(step);
    const std::span<std::byte> scratch(memory_.arena + planned(step).scratch_offset,
                                       planned(step).scratch_bytes);
    try {
      if (entry.kernel != nullptr) {
        const StepOperands& operands = operands_[step];
        entry.kernel->run_rows({operands.inputs, operands.outputs, scratch, threads_}, rows);
      } else {
        run_operator(step, rows, scratch);
      }
    } catch (Error& error) {
      error.add_context(entry.label());
      throw;
    }
  }

  /// Graph operators know nothing of rings: they get dense parts, between one wrap and the next.
  void run_operator(std::size_t step, RowRange rows, std::span<std::byte> scratch) {
    const StepOperands& whole = operands_[step];
    for (std::int64_t y = rows.begin; y < rows.end;) {
      std::int64_t count = rows.end - y;
      const auto until_wrap = [&](const KernelOperand& operand) {
        if (operand.ring_rows != 0) {
          count = std::min(count, operand.ring_rows - y % operand.ring_rows);
        }
      };
      for (const KernelOperand& input : whole.inputs) until_wrap(input);
      until_wrap(whole.outputs[0]);
      part_ = whole;
      const auto cut = [&](KernelOperand& operand) {
        const std::int64_t at = operand.ring_rows == 0 ? y : y % operand.ring_rows;
        operand.data += static_cast<std::size_t>(at) * row_bytes(operand);
        operand.type.shape = with_dimension(operand.type.shape, 1, count);
        operand.ring_rows = 0;
      };
      for (std::size_t index = 0; index < part_.inputs.size(); ++index) {
        if (part_.input_has_rows[index]) cut(part_.inputs[index]);
      }
      cut(part_.outputs[0]);
      StepContext context(*node(step).definition, part_.inputs, part_.outputs, scratch, threads_);
      node(step).op->run(context);
      y += count;
    }
  }

  const StageMemory& memory_;
  const StagePlan& plan_;
  const PlannedGroup& group_;
  kernels::ThreadPool& threads_;
  const StripHooks& hooks_;
  StripWalk walk_;
  std::vector<StepOperands> operands_;
  StepOperands part_;
};

}  // namespace

void run_strips(const StageMemory& memory, const StagePlan& plan, const PlannedGroup& group,
                kernels::ThreadPool& threads, const StripHooks& hooks) {
  StripRun(memory, plan, group, threads, hooks).run();
}

}  // namespace plimsoll::tensor
