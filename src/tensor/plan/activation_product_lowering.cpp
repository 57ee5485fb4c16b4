#include "tensor/plan/activation_product_lowering.h"

#include <algorithm>
#include <memory>

#include "tensor/operators/shaping.h"
#include "tensor/plan/activation_product_node.h"
#include "tensor/plan/strided_view.h"

namespace plimsoll::tensor {
namespace {

/// A view of at least two dimensions as matrices, its batch dimensions stretched to `batch`.
MatrixBatch matrices(const StridedView& view, std::span<const std::int64_t> batch) {
  const std::size_t rank = view.sizes.size();
  MatrixBatch result;
  result.offset = view.offset;
  result.row_stride = view.strides[rank - 2];
  result.column_stride = view.strides[rank - 1];
  result.batch_strides.assign(batch.size(), 0);
  const std::size_t own = rank - 2;
  for (std::size_t axis = 0; axis < own; ++axis) {
    const std::size_t to = batch.size() - own + axis;
    if (view.sizes[axis] != 1) result.batch_strides[to] = view.strides[axis];
  }
  return result;
}

/// The factor where its columns lie side by side, else the value itself.
StridedView left_view(Rewriter& rewriter, ValueId id) {
  StridedView view = view_through(rewriter, id);
  return view.strides.back() == 1 || view.sizes.back() == 1 ? view : plain_view(rewriter, id);
}

/// The view's source, in the graph's order, read from now on by the product instead of `id`.
ValueId take(Rewriter& rewriter, const StridedView& view, ValueId id) {
  rewriter.add_reader(view.source);
  rewriter.release(id);
  return rewriter.original(view.source);
}

bool usable(Rewriter& rewriter, ValueId id) {
  return rewriter.is_f32(id) && rewriter.shape(id).rank() >= 2 &&
         rewriter.shape(id).elements() != 0;
}

/// Gemm's addend as a term for each column; nothing where it is another kind.
std::optional<OwnedEpilogue> gemm_epilogue(Rewriter& rewriter, const ProgramNode& node,
                                           std::int64_t columns) {
  OwnedEpilogue epilogue;
  const auto count = static_cast<std::size_t>(columns);
  const float alpha = node.definition->real("alpha", 1.0F);
  if (alpha != 1.0F) epilogue.then_affine(std::span(&alpha, 1), {}, count);
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
    const Shape shape = rewriter.shape(node.inputs[2]);
    auto term = rewriter.floats(node.inputs[2]);
    if (!term ||
        (shape.elements() != 1 && (shape.elements() != columns || shape.back() != columns))) {
      return std::nullopt;
    }
    const float beta = node.definition->real("beta", 1.0F);
    for (float& x : *term) x *= beta;
    epilogue.then_affine({}, *term, count);
  }
  return epilogue;
}

}  // namespace

std::optional<MatrixBatch> residual_matrices(Rewriter& rewriter,
                                             const ActivationProductNode& product, ValueId id) {
  const Shape shape = rewriter.shape(id);
  const std::size_t own = shape.rank();
  if (product.transposed || !rewriter.is_f32(id) || own < 2 || own > product.batch.size() + 2 ||
      shape.back() != product.columns) {
    return std::nullopt;
  }
  StridedView view = plain_view(rewriter, id);
  if (shape[own - 2] == 1) {
    view.strides[own - 2] = 0;
  } else if (shape[own - 2] != product.rows) {
    return std::nullopt;
  }
  for (std::size_t axis = 0; axis + 2 < own; ++axis) {
    const std::int64_t size = product.batch[product.batch.size() + 2 - own + axis];
    if (shape[axis] != 1 && shape[axis] != size) return std::nullopt;
  }
  return matrices(view, product.batch);
}

bool lower_activation_product(Rewriter& rewriter, const ProgramNode& node) {
  const bool gemm = is_op(node, "Gemm");
  if (!gemm && !is_op(node, "MatMul")) return false;
  const ValueId a = node.inputs[0];
  const ValueId b = node.inputs[1];
  if (!usable(rewriter, a) || !usable(rewriter, b) ||
      (gemm && node.definition->integer("transA", 0) != 0)) {
    return false;
  }
  const Shape out = rewriter.shape(node.outputs[0]);
  auto kernel = std::make_shared<ActivationProductNode>();
  kernel->target = rewriter.target();
  kernel->name = node.definition->op_type;
  kernel->rows = out[out.rank() - 2];
  kernel->columns = out.back();
  kernel->batch.assign(out.dimensions().begin(), out.dimensions().end() - 2);
  if (gemm) {
    auto epilogue = gemm_epilogue(rewriter, node, kernel->columns);
    if (!epilogue) return false;
    kernel->epilogue = std::move(*epilogue);
  }
  const StridedView left = left_view(rewriter, a);
  StridedView right = view_through(rewriter, b);
  kernel->depth = left.sizes.back();
  if (gemm && node.definition->integer("transB", 0) != 0) {
    std::swap(right.sizes[0], right.sizes[1]);
    std::swap(right.strides[0], right.strides[1]);
  }
  kernel->left = matrices(left, kernel->batch);
  kernel->right = matrices(right, kernel->batch);
  kernel->output = matrices(plain_view(rewriter, node.outputs[0]), kernel->batch);
  const float factor = left.factor * right.factor;
  if (factor != 1) {
    OwnedEpilogue scaled;
    scaled.then_affine(std::span(&factor, 1), {}, static_cast<std::size_t>(kernel->columns));
    if (!kernel->epilogue.scale.empty() || !kernel->epilogue.shift.empty()) {
      scaled.then_affine(kernel->epilogue.scale, kernel->epilogue.shift,
                         static_cast<std::size_t>(kernel->columns));
    }
    kernel->epilogue = std::move(scaled);
  }
  const ValueId left_source = take(rewriter, left, a);
  const ValueId right_source = take(rewriter, right, b);
  rewriter.emit(
      {node.definition, nullptr, std::move(kernel), {left_source, right_source}, node.outputs});
  return true;
}

bool fuse_output_transpose(Rewriter& rewriter, const ProgramNode& node) {
  if (!is_op(node, "Transpose") || rewriter.readers(node.inputs[0]) != 1) return false;
  ProgramNode* made = rewriter.maker(node.inputs[0]);
  if (made == nullptr) return false;
  const auto* product = dynamic_cast<const ActivationProductNode*>(made->kernel.get());
  const std::vector<std::int64_t> permutation = node.definition->integers("perm");
  if (product == nullptr || product->transposed || permutation.empty() ||
      permutation.back() != static_cast<std::int64_t>(permutation.size()) - 1) {
    return false;
  }
  // Where each of the product's dimensions is in the transposed result.
  const std::vector<std::int64_t> strides = row_major_strides(rewriter.shape(node.outputs[0]));
  std::vector<std::int64_t> own(permutation.size());
  for (std::size_t axis = 0; axis < permutation.size(); ++axis) {
    own[static_cast<std::size_t>(permutation[axis])] = strides[axis];
  }
  auto kernel = std::make_shared<ActivationProductNode>(*product);
  const std::size_t batch = own.size() - 2;
  kernel->output.batch_strides.assign(own.begin(),
                                      own.begin() + static_cast<std::ptrdiff_t>(batch));
  kernel->output.row_stride = own[batch];
  kernel->transposed = true;
  kernel->name += "+Transpose";
  ProgramNode fresh = std::move(*made);
  Rewriter::erase(*made);
  fresh.kernel = std::move(kernel);
  fresh.outputs = node.outputs;
  rewriter.emit(std::move(fresh));
  return true;
}

}  // namespace plimsoll::tensor
