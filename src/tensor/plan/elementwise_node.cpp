#include "tensor/plan/elementwise_node.h"

#include <algorithm>

#include "tensor/kernels/table.h"
#include "tensor/plan/image_window.h"

namespace plimsoll::tensor {
namespace {

/// Elements of one block: with a few operands and results it fits the first-level cache.
constexpr std::int64_t block_elements = 1024;
/// Elements that one thread takes at least: below, waking another costs more than it saves.
constexpr std::int64_t elementwise_grain = 16 * 1024;
/// One block for each input, then one for each step.
constexpr std::size_t blocks_of_thread = ElementwiseNode::most_inputs + ElementwiseNode::most_steps;

/// An operand of a matrix of elements; strides may be 0.
struct MatrixOperand {
  const float* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};
using MatrixOperands = std::array<MatrixOperand, ElementwiseNode::most_inputs>;

/// The output's dimensions, those merged along which all inputs step alike.
struct MergedShape {
  std::vector<std::int64_t> sizes;
  std::vector<std::array<std::int64_t, ElementwiseNode::most_inputs>> strides;

  MergedShape(const Shape& output, std::span<const KernelOperand> inputs) {
    std::array<std::int64_t, ElementwiseNode::most_inputs> next{};
    next.fill(1);
    for (std::size_t axis = output.rank(); axis-- > 0;) {
      std::array<std::int64_t, ElementwiseNode::most_inputs> own{};
      for (std::size_t input = 0; input < inputs.size(); ++input) {
        const Shape& shape = inputs[input].type.shape;
        const std::size_t missing = output.rank() - shape.rank();
        if (axis < missing || shape[axis - missing] == 1) continue;
        own[input] = next[input];
        next[input] *= shape[axis - missing];
      }
      if (output[axis] == 1) continue;
      if (sizes.empty() || !continues(own)) {
        sizes.push_back(output[axis]);
        strides.push_back(own);
      } else {
        sizes.back() *= output[axis];
      }
    }
    // A matrix at least.
    while (sizes.size() < 2) {
      sizes.push_back(1);
      strides.emplace_back();
    }
    std::ranges::reverse(sizes);
    std::ranges::reverse(strides);
  }

 private:
  /// Whether a dimension with these strides goes on where the one within it ends.
  [[nodiscard]] bool continues(
      const std::array<std::int64_t, ElementwiseNode::most_inputs>& outer) const {
    for (std::size_t input = 0; input < outer.size(); ++input) {
      if (outer[input] != strides.back()[input] * sizes.back()) return false;
    }
    return true;
  }
};

}  // namespace

/// One thread's blocks.
class ElementwiseNode::Worker {
 public:
  Worker(const ElementwiseNode& node, const KernelContext& context, int thread)
      : node_(node), map_(kernels::kernel_table(node.target).map), inputs_(context.inputs.size()) {
    blocks_ = reinterpret_cast<float*>(context.scratch.data()) +
              static_cast<std::int64_t>(thread) * static_cast<std::int64_t>(blocks_of_thread) *
                  block_elements;
  }

  /// Computes a matrix of rows × columns whose output lies dense at `output`.
  void compute(const MatrixOperands& operands, std::int64_t rows, std::int64_t columns,
               float* output) {
    const std::int64_t wide = std::min(columns, block_elements);
    const std::int64_t tall = std::max<std::int64_t>(block_elements / columns, 1);
    for (std::int64_t row = 0; row < rows; row += tall) {
      for (std::int64_t column = 0; column < columns; column += wide) {
        const std::int64_t height = std::min(tall, rows - row);
        const std::int64_t width = std::min(wide, columns - column);
        for (std::size_t input = 0; input < inputs_; ++input) {
          find(input, operands[input], row, column, height, width);
        }
        run_steps(height * width, output + row * columns + column);
      }
    }
  }

 private:
  struct Source {
    const float* data = nullptr;
    bool moves = true;
  };

  [[nodiscard]] float* block(std::size_t number) const {
    return blocks_ + static_cast<std::int64_t>(number) * block_elements;
  }

  /// Where the input's elements of a block are: in place where they lie side by side, else copied.
  void find(std::size_t input, const MatrixOperand& operand, std::int64_t row, std::int64_t column,
            std::int64_t height, std::int64_t width) {
    const float* from = operand.data + row * operand.row_stride + column * operand.column_stride;
    Source& source = sources_[input];
    source = {from, operand.column_stride != 0};
    if (height == 1 || (operand.row_stride == 0 && operand.column_stride == 0) ||
        (operand.column_stride == 1 && operand.row_stride == width)) {
      return;
    }
    float* to = block(input);
    source = {to, true};
    for (std::int64_t r = 0; r < height; ++r, from += operand.row_stride, to += width) {
      if (operand.column_stride == 1) {
        std::copy_n(from, width, to);
      } else {
        std::fill_n(to, width, *from);
      }
    }
  }

  [[nodiscard]] Source source_of(const StepOperand& operand) const {
    switch (operand.kind) {
      case StepOperand::Kind::input:
        return sources_[operand.index];
      case StepOperand::Kind::step:
        return {block(most_inputs + operand.index), true};
      case StepOperand::Kind::number:
        return {&operand.number, false};
      case StepOperand::Kind::none:
        break;
    }
    return {nullptr, false};
  }

  void run_steps(std::int64_t count, float* output) const {
    for (std::size_t index = 0; index < node_.steps.size(); ++index) {
      const ElementwiseStep& step = node_.steps[index];
      const Source a = source_of(step.a);
      const Source b = source_of(step.b);
      kernels::MapTask task;
      task.operation = step.operation;
      task.a = a.data;
      task.a_moves = a.moves;
      task.b = b.data;
      task.b_moves = b.moves;
      task.output = index + 1 == node_.steps.size() ? output : block(most_inputs + index);
      task.count = count;
      task.activation = step.activation;
      task.low = step.low;
      task.high = step.high;
      map_(task);
    }
  }

  const ElementwiseNode& node_;
  void (*map_)(const kernels::MapTask&);
  std::size_t inputs_;
  float* blocks_;
  std::array<Source, most_inputs> sources_;
};

Encoding ElementwiseNode::encoding(std::size_t, const WeightView& view) const {
  return plain_encoding(view.type);
}

std::uint64_t ElementwiseNode::scratch_bytes(int threads) const {
  return static_cast<std::uint64_t>(threads) * blocks_of_thread * block_elements * sizeof(float);
}

void ElementwiseNode::run(const KernelContext& context) const {
  const MergedShape shape(context.outputs[0].type.shape, context.inputs);
  const std::size_t rank = shape.sizes.size();
  const std::int64_t columns = shape.sizes[rank - 1];
  // Work is handed out in runs of whole rows of the innermost matrix, all of them of one size.
  const std::int64_t tall = shape.sizes[rank - 2];
  const std::int64_t wanted = std::max<std::int64_t>(elementwise_grain / columns, 1);
  const std::int64_t run_rows = std::min(tall, wanted);
  const std::int64_t runs = (tall + run_rows - 1) / run_rows;
  const std::int64_t matrices = context.outputs[0].type.shape.elements() / (tall * columns);
  auto* output = reinterpret_cast<float*>(context.outputs[0].data);
  context.threads.parallel_for(
      matrices * runs, std::max<std::int64_t>(elementwise_grain / (run_rows * columns), 1),
      [&](std::int64_t begin, std::int64_t end, int thread) {
        Worker worker(*this, context, thread);
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t first = item % runs * run_rows;
          std::int64_t matrix = item / runs;
          float* to = output + matrix * tall * columns + first * columns;
          MatrixOperands operands;
          for (std::size_t input = 0; input < context.inputs.size(); ++input) {
            operands[input] = {reinterpret_cast<const float*>(context.inputs[input].data),
                               shape.strides[rank - 2][input], shape.strides[rank - 1][input]};
            operands[input].data += first * operands[input].row_stride;
          }
          for (std::size_t axis = rank - 2; axis-- > 0; matrix /= shape.sizes[axis]) {
            for (std::size_t input = 0; input < context.inputs.size(); ++input) {
              operands[input].data += matrix % shape.sizes[axis] * shape.strides[axis][input];
            }
          }
          worker.compute(operands, std::min(run_rows, tall - first), columns, to);
        }
      });
}

std::optional<RowRange> ElementwiseNode::input_rows(std::size_t input, RowRange output) const {
  return has_rows[input] ? std::optional(output) : std::nullopt;
}

void ElementwiseNode::run_rows(const KernelContext& context, RowRange range) const {
  const Shape& shape = context.outputs[0].type.shape;
  const std::int64_t height = range.end - range.begin;
  const auto line_operand = [&](const KernelOperand& operand, std::size_t input, std::int64_t n,
                                std::int64_t y) {
    // The operand's dimensions, filled up in front.
    std::array<std::int64_t, 4> sizes{1, 1, 1, 1};
    const Shape& own = operand.type.shape;
    for (std::size_t axis = 0; axis < own.rank(); ++axis) sizes[4 - own.rank() + axis] = own[axis];
    MatrixOperand line;
    line.column_stride = sizes[3] == 1 ? 0 : 1;
    line.row_stride = sizes[2] == 1 ? 0 : sizes[3];
    const std::int64_t item = sizes[0] == 1 ? 0 : n;
    if (has_rows[input]) {
      line.data = image_row(operand, item, y);
    } else {
      const std::int64_t row = sizes[1] == 1 ? 0 : y;
      line.data = reinterpret_cast<const float*>(operand.data) +
                  (item * sizes[1] + row) * sizes[2] * sizes[3];
    }
    return line;
  };
  context.threads.parallel_for(
      shape[0] * height, std::max<std::int64_t>(elementwise_grain / (shape[2] * shape[3]), 1),
      [&](std::int64_t begin, std::int64_t end, int thread) {
        Worker worker(*this, context, thread);
        for (std::int64_t line = begin; line < end; ++line) {
          const std::int64_t n = line / height;
          const std::int64_t y = range.begin + line % height;
          MatrixOperands operands;
          for (std::size_t input = 0; input < context.inputs.size(); ++input) {
            operands[input] = line_operand(context.inputs[input], input, n, y);
          }
          worker.compute(operands, shape[2], shape[3], image_row(context.outputs[0], n, y));
        }
      });
}

}  // namespace plimsoll::tensor
