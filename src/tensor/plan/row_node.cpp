#include "tensor/plan/row_node.h"

#include <algorithm>
#include <memory>

#include "tensor/kernels/table.h"

namespace plimsoll::tensor {
namespace {

/// Elements that one thread takes at least.
constexpr std::int64_t row_grain = 4096;

struct RowNode : KernelNode {
  kernels::Target target = kernels::Target::generic;
  std::int64_t size = 0;  ///< of a row

  [[nodiscard]] Encoding encoding(std::size_t, const WeightView& view) const override {
    return plain_encoding(view.type);
  }
  [[nodiscard]] std::uint64_t scratch_bytes(int) const override { return 0; }
  [[nodiscard]] int in_place_input() const override { return 0; }

 protected:
  /// Calls body(input row, output row) for all rows, in parallel.
  template <typename F>
  void for_each_row(const KernelContext& context, const F& body) const {
    const auto* input = reinterpret_cast<const float*>(context.inputs[0].data);
    auto* output = reinterpret_cast<float*>(context.outputs[0].data);
    context.threads.parallel_for(context.outputs[0].type.shape.elements() / size,
                                 std::max<std::int64_t>(row_grain / size, 1),
                                 [&](std::int64_t begin, std::int64_t end, int) {
                                   for (std::int64_t row = begin; row < end; ++row) {
                                     body(input + row * size, output + row * size);
                                   }
                                 });
  }
};

struct SoftmaxNode : RowNode {
  void run(const KernelContext& context) const override {
    const auto softmax = kernels::kernel_table(target).softmax_row;
    for_each_row(context, [&](const float* x, float* y) { softmax(x, y, size); });
  }
};

/// Inputs: 0 the rows, 1 the scale, 2 the shift where there is one.
struct NormalizeNode : RowNode {
  float epsilon = 0;

  void run(const KernelContext& context) const override {
    const auto normalize = kernels::kernel_table(target).normalize_row;
    kernels::NormalizeTask shared;
    shared.count = size;
    shared.scale = reinterpret_cast<const float*>(context.inputs[1].data);
    if (context.inputs.size() > 2) {
      shared.shift = reinterpret_cast<const float*>(context.inputs[2].data);
    }
    shared.epsilon = epsilon;
    for_each_row(context, [&](const float* x, float* y) {
      kernels::NormalizeTask task = shared;
      task.input = x;
      task.output = y;
      normalize(task);
    });
  }
};

/// The product of the dimensions from `axis` on.
std::int64_t row_size(const Shape& shape, std::size_t axis) {
  return shape.product(axis, shape.rank());
}

std::shared_ptr<RowNode> softmax(Rewriter& rewriter, const ProgramNode& node) {
  const Shape& shape = rewriter.shape(node.inputs[0]);
  const auto rank = static_cast<std::int64_t>(shape.rank());
  // Before opset 13 everything from the axis on is one row.
  const bool flat = node.definition->opset < 13;
  std::int64_t axis = node.definition->integer("axis", flat ? 1 : -1);
  if (axis < 0) axis += rank;
  if (axis >= rank || (!flat && row_size(shape, static_cast<std::size_t>(axis) + 1) != 1)) {
    return nullptr;
  }
  auto kernel = std::make_shared<SoftmaxNode>();
  kernel->size = row_size(shape, static_cast<std::size_t>(axis));
  return kernel;
}

std::shared_ptr<RowNode> normalization(Rewriter& rewriter, const ProgramNode& node) {
  const Shape& shape = rewriter.shape(node.inputs[0]);
  const auto rank = static_cast<std::int64_t>(shape.rank());
  std::int64_t axis = node.definition->integer("axis", -1);
  if (axis < 0) axis += rank;
  auto kernel = std::make_shared<NormalizeNode>();
  kernel->size = row_size(shape, static_cast<std::size_t>(axis));
  kernel->epsilon = node.definition->real("epsilon", 1e-5F);
  for (std::size_t index = 1; index < node.inputs.size(); ++index) {
    const ValueId id = node.inputs[index];
    if (id == no_value || !rewriter.is_f32(id) || rewriter.shape(id).elements() != kernel->size) {
      return nullptr;
    }
  }
  return kernel;
}

}  // namespace

bool lower_row_operator(Rewriter& rewriter, const ProgramNode& node) {
  const bool is_softmax = is_op(node, "Softmax");
  const bool outputs_one =
      std::ranges::count_if(node.outputs, [](ValueId id) { return id != no_value; }) == 1;
  if ((!is_softmax && !is_op(node, "LayerNormalization")) || !outputs_one ||
      node.outputs[0] == no_value || !rewriter.is_f32(node.inputs[0]) ||
      rewriter.shape(node.inputs[0]).rank() == 0 ||
      rewriter.shape(node.inputs[0]).elements() == 0) {
    return false;
  }
  std::shared_ptr<RowNode> kernel =
      is_softmax ? softmax(rewriter, node) : normalization(rewriter, node);
  if (kernel == nullptr) return false;
  kernel->target = rewriter.target();
  kernel->name = node.definition->op_type;
  std::vector<ValueId> inputs = node.inputs;
  for (ValueId& id : inputs) id = rewriter.original(id);
  rewriter.emit(
      {node.definition, nullptr, std::move(kernel), std::move(inputs), {node.outputs[0]}});
  return true;
}

}  // namespace plimsoll::tensor
