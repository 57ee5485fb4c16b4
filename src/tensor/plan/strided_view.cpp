#include "tensor/plan/strided_view.h"

#include <algorithm>

#include "tensor/graph/specialize.h"
#include "tensor/operators/shaping.h"
#include "tensor/operators/slicing.h"
#include "tensor/plan/elementwise_node.h"

namespace plimsoll::tensor {
namespace {

bool is_reshape(const ProgramNode& node) {
  return is_op(node, "Reshape") || is_op(node, "Squeeze") || is_op(node, "Unsqueeze") ||
         is_op(node, "Flatten");
}

/// The number that a chain of one multiplication or division scales its only input by.
std::optional<float> scale_of(const ProgramNode& node) {
  using Kind = StepOperand::Kind;
  const auto* chain = dynamic_cast<const ElementwiseNode*>(node.kernel.get());
  if (chain == nullptr || chain->steps.size() != 1 || chain->overwritten != 0) return std::nullopt;
  const ElementwiseStep& step = chain->steps.front();
  const bool second = step.a.kind == Kind::input && step.b.kind == Kind::number;
  if (step.operation == kernels::MapOperation::multiply) {
    if (second) return step.b.number;
    if (step.a.kind == Kind::number && step.b.kind == Kind::input) return step.a.number;
  }
  if (step.operation == kernels::MapOperation::divide && second) return 1.0F / step.b.number;
  return std::nullopt;
}

/// The view under another shape with as many elements; false where strides cannot tell it.
bool reshape(StridedView& view, const Shape& shape) {
  std::vector<std::int64_t> strides(shape.rank(), 0);
  std::size_t from = 0;
  std::size_t to = 0;
  // Groups of old and new dimensions that hold the same elements, one after the other.
  while (to < shape.rank() || from < view.sizes.size()) {
    std::size_t from_end = from;
    std::size_t to_end = to;
    std::int64_t old_count = 1;
    std::int64_t new_count = 1;
    if (from_end < view.sizes.size()) old_count *= view.sizes[from_end++];
    if (to_end < shape.rank()) new_count *= shape[to_end++];
    while (old_count != new_count) {
      if (old_count < new_count) {
        if (from_end == view.sizes.size()) return false;
        old_count *= view.sizes[from_end++];
      } else {
        if (to_end == shape.rank()) return false;
        new_count *= shape[to_end++];
      }
    }
    // The old dimensions of a group must lie one within the other.
    std::int64_t step = 1;
    bool any = false;
    std::int64_t next = 0;
    for (std::size_t axis = from_end; axis-- > from;) {
      if (view.sizes[axis] == 1) continue;
      if (any && view.strides[axis] != next) return false;
      if (!any) step = view.strides[axis];
      any = true;
      next = view.strides[axis] * view.sizes[axis];
    }
    for (std::size_t axis = to_end; axis-- > to;) {
      strides[axis] = step;
      step *= shape[axis];
    }
    from = from_end;
    to = to_end;
  }
  view.sizes.assign(shape.dimensions().begin(), shape.dimensions().end());
  view.strides = std::move(strides);
  return true;
}

/// Where a Gather takes one position of an axis, the position; its index has no dimensions.
std::optional<std::int64_t> gathered_position(Rewriter& rewriter, const ProgramNode& node) {
  if (!is_op(node, "Gather") || rewriter.shape(node.inputs[1]).rank() != 0) return std::nullopt;
  const auto index = known_value(rewriter.program(), node.inputs[1]);
  if (!index) return std::nullopt;
  if (index->type == ElementType::i64) return *index->as<std::int64_t>();
  if (index->type == ElementType::i32) return *index->as<std::int32_t>();
  return std::nullopt;
}

std::size_t axis_of(const ProgramNode& node, std::size_t rank) {
  const std::int64_t axis = node.definition->integer("axis", 0);
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

bool rearranges(Rewriter& rewriter, const ProgramNode& node) {
  return is_reshape(node) || is_op(node, "Transpose") || is_op(node, "Slice") ||
         is_op(node, "Split") || gathered_position(rewriter, node) || scale_of(node);
}

/// The view of `output`, which the node makes, given that of its input; false where there is none.
bool apply(Rewriter& rewriter, const ProgramNode& node, ValueId output, StridedView& view) {
  if (is_reshape(node)) return reshape(view, rewriter.shape(output));
  if (is_op(node, "Transpose")) {
    std::vector<std::int64_t> permutation = node.definition->integers("perm");
    if (permutation.empty()) {
      for (std::size_t axis = view.sizes.size(); axis-- > 0;) {
        permutation.push_back(static_cast<std::int64_t>(axis));
      }
    }
    const StridedView before = view;
    for (std::size_t axis = 0; axis < permutation.size(); ++axis) {
      const auto from = static_cast<std::size_t>(permutation[axis]);
      view.sizes[axis] = before.sizes[from];
      view.strides[axis] = before.strides[from];
    }
    return true;
  }
  if (is_op(node, "Slice")) {
    const auto ranges = known_slice(rewriter.program(), node);
    if (!ranges) return false;
    for (std::size_t axis = 0; axis < ranges->size(); ++axis) {
      const SliceRange& range = (*ranges)[axis];
      view.offset += range.start * view.strides[axis];
      view.strides[axis] *= range.step;
      view.sizes[axis] = range.count;
    }
    return true;
  }
  if (is_op(node, "Split")) {
    const std::size_t axis = axis_of(node, view.sizes.size());
    for (ValueId part : node.outputs) {
      if (part == output) break;
      if (part == no_value) return false;
      view.offset += rewriter.shape(part)[axis] * view.strides[axis];
    }
    view.sizes[axis] = rewriter.shape(output)[axis];
    return true;
  }
  if (const auto position = gathered_position(rewriter, node)) {
    const std::size_t axis = axis_of(node, view.sizes.size());
    const std::int64_t size = view.sizes[axis];
    const std::int64_t at = *position < 0 ? *position + size : *position;
    if (at < 0 || at >= size) return false;  // the operator itself says what is wrong
    view.offset += at * view.strides[axis];
    view.sizes.erase(view.sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(axis));
    return true;
  }
  const auto factor = scale_of(node);
  if (!factor) return false;
  view.factor *= *factor;
  return true;
}

}  // namespace

StridedView plain_view(Rewriter& rewriter, ValueId id) {
  const Shape shape = rewriter.shape(id);
  StridedView view;
  view.source = id;
  view.sizes.assign(shape.dimensions().begin(), shape.dimensions().end());
  view.strides = row_major_strides(shape);
  return view;
}

StridedView view_through(Rewriter& rewriter, ValueId id) {
  // From the value up to where rearranging begins, then down again.
  std::vector<ValueId> chain{id};
  if (rewriter.shape(id).elements() == 0) return plain_view(rewriter, id);
  for (;;) {
    const ProgramNode* node = rewriter.maker(chain.back());
    if (node == nullptr || !rearranges(rewriter, *node)) break;
    chain.push_back(node->inputs[0]);
  }
  StridedView view = plain_view(rewriter, chain.back());
  for (std::size_t index = chain.size() - 1; index-- > 0;) {
    if (!apply(rewriter, *rewriter.maker(chain[index]), chain[index], view)) {
      view = plain_view(rewriter, chain[index]);
    }
  }
  return view;
}

}  // namespace plimsoll::tensor
