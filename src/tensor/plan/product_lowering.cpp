#include "tensor/plan/product_lowering.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "tensor/graph/specialize.h"
#include "tensor/operators/spatial.h"
#include "tensor/plan/depthwise_node.h"
#include "tensor/plan/product_node.h"
#include "tensor/plan/product_weight.h"

namespace plimsoll::tensor {
namespace {

/// A Pad that only adds zeros around images and that nobody else reads is part of the window of the
/// convolution after it, which then needs no padded copy. Returns the image before the Pad.
std::optional<ValueId> absorb_padding(Rewriter& rewriter, ValueId x, ImageWindow& window) {
  const auto twin = rewriter.only_twin(x);
  if (!twin || rewriter.readers(x) != 1) return std::nullopt;
  ProgramNode* pad = rewriter.maker(*twin);
  if (pad == nullptr || !is_op(*pad, "Pad")) return std::nullopt;
  if (pad->definition->text("mode", "constant") != "constant") return std::nullopt;
  if (pad->inputs.size() > 2 && pad->inputs[2] != no_value) {
    const auto value = rewriter.floats(pad->inputs[2]);
    if (!value || value->size() != 1 || value->front() != 0.0F) return std::nullopt;
  }
  const auto pads = known_value(rewriter.program(), pad->inputs[1]);
  if (!pads || pads->type != ElementType::i64 || pads->elements() != 8) return std::nullopt;
  const auto list = pads->span<std::int64_t>();  // channels-last: N, H, W, C at both ends
  if (std::ranges::any_of(list, [](std::int64_t pad_size) { return pad_size < 0; }) ||
      list[0] != 0 || list[3] != 0 || list[4] != 0 || list[7] != 0) {
    return std::nullopt;
  }
  window.pad_top += list[1];
  window.pad_left += list[2];
  const ValueId before = pad->inputs[0];
  Rewriter::erase(*pad);
  return before;
}

/// The filter's height and width; one row where it moves along one axis.
struct FilterSize {
  std::int64_t height = 1;
  std::int64_t width = 1;
};
FilterSize filter_size(const Shape& filter) {
  return {filter.rank() == 4 ? filter[2] : 1, filter.back()};
}

/// Adds the bias, operand 2, for each of the columns; false where it is not known.
bool add_bias(Rewriter& rewriter, const ProgramNode& node, std::int64_t columns,
              OwnedEpilogue& epilogue) {
  if (node.inputs.size() <= 2 || node.inputs[2] == no_value) return true;
  const auto bias = rewriter.floats(node.inputs[2]);
  if (!bias) return false;
  epilogue.then_affine({}, *bias, static_cast<std::size_t>(columns));
  return true;
}

/// The weight's value for a kernel, which reads it instead of what the graph has.
ValueId pack(Rewriter& rewriter, const ProductWeight& weight, const WeightView& view) {
  const ValueId packed = rewriter.add_weight(rewriter.value(weight.value), view);
  rewriter.release(weight.value);
  return packed;
}

bool lower_convolution(Rewriter& rewriter, const ProgramNode& node) {
  const ValueId x = node.inputs[0];
  const ValueId w = node.inputs[1];
  if (!rewriter.is_f32(x) || !is_image_rank(rewriter.shape(x).rank())) return false;
  const auto weight = product_weight(rewriter, w);
  if (!weight || !weight->view.dense() || !weight->per_column(0)) return false;
  const Shape filter = weight->shape();
  const Shape input = rewriter.shape(x);
  const Shape output = rewriter.shape(node.outputs[0]);
  if (output.elements() == 0 || input.elements() == 0) return false;
  const std::int64_t groups = node.definition->integer("group", 1);
  const FilterSize size = filter_size(filter);
  const bool depthwise = groups > 1 && groups == input[1] && filter[0] == groups &&
                         size.height <= largest_depthwise_kernel;
  ImageWindow window =
      image_window(spatial_window(*node.definition, input, filter.dimensions().subspan(2)));
  // The kernel for it has no zero points.
  if (depthwise && !weight->zero_points.empty()) return false;
  OwnedEpilogue epilogue = weight->epilogue(filter[0]);
  if (!add_bias(rewriter, node, filter[0], epilogue)) return false;
  const auto view = weight->view.reshaped({filter[0], filter[1], size.height * size.width});
  if (!view) return false;
  const auto unpadded = absorb_padding(rewriter, x, window);
  std::shared_ptr<KernelNode> kernel;
  if (depthwise) {
    auto made = std::make_shared<DepthwiseNode>();
    made->target = rewriter.target();
    made->channels = groups;
    made->window = window;
    made->epilogue = std::move(epilogue);
    made->name = "DepthwiseConv";
    kernel = std::move(made);
  } else {
    auto made = std::make_shared<ProductNode>();
    made->target = rewriter.target();
    made->depth = filter[1];
    made->columns = filter[0];
    made->groups = groups;
    made->convolution = true;
    made->window = window;
    made->weight_element = weight->view.stored->type;
    made->zero_points = weight->column_zero_points(filter[0]);
    made->epilogue = std::move(epilogue);
    made->name = groups == 1 ? "Conv" : "GroupedConv";
    kernel = std::move(made);
  }
  const ValueId twin = unpadded ? *unpadded : rewriter.channels_last(x);
  const ValueId result = rewriter.add_twin(node.outputs[0]);
  const ValueId packed = pack(rewriter, *weight, *view);
  rewriter.emit({node.definition, nullptr, std::move(kernel), {twin, packed}, {result}});
  return true;
}

bool lower_transposed(Rewriter& rewriter, const ProgramNode& node) {
  const ValueId x = node.inputs[0];
  const ValueId w = node.inputs[1];
  if (!rewriter.is_f32(x) || !is_image_rank(rewriter.shape(x).rank())) return false;
  const auto weight = product_weight(rewriter, w);
  if (!weight) return false;
  const Shape filter = weight->shape();
  const Shape output = rewriter.shape(node.outputs[0]);
  if (!weight->view.dense() || !weight->per_column(1) ||
      node.definition->integer("group", 1) != 1 || output.elements() == 0 ||
      rewriter.shape(x).elements() == 0) {
    return false;
  }
  const SpatialWindow spatial =
      transposed_window(*node.definition, rewriter.shape(x), filter.dimensions().subspan(2));
  for (std::size_t axis = 0; axis + 2 < filter.rank(); ++axis) {
    if (spatial.strides[axis] != spatial.kernel[axis] || spatial.dilations[axis] != 1 ||
        spatial.pads_begin[axis] != 0 ||
        spatial.output[axis] != spatial.input[axis] * spatial.kernel[axis]) {
      return false;
    }
  }
  const FilterSize size = filter_size(filter);
  auto kernel = std::make_shared<ProductNode>();
  // One channel: the positions of a kernel's row are neighbours in the output, so they are columns
  // of one product.
  const bool by_row = filter[1] == 1;
  kernel->columns = by_row ? size.width : filter[1];
  kernel->epilogue = weight->epilogue(kernel->columns);
  if (!add_bias(rewriter, node, kernel->columns, kernel->epilogue)) return false;
  kernel->target = rewriter.target();
  kernel->depth = filter[0];
  kernel->convolution = true;
  kernel->transposed = true;
  WeightView view = weight->view;
  if (by_row) {
    constexpr std::int64_t columns_second[] = {0, 2, 1};
    view = view.reshaped({filter[0], size.height, size.width})->transposed(columns_second);
    kernel->window = {size.height, 1, size.height, 1, 1, 1, 0, 0};
  } else {
    view = *view.reshaped({filter[0], filter[1], size.height * size.width});
    kernel->window = {size.height, size.width, size.height, size.width, 1, 1, 0, 0};
  }
  kernel->weight_element = weight->view.stored->type;
  kernel->zero_points = weight->column_zero_points(kernel->columns);
  kernel->name = "ConvTranspose";
  const ValueId twin = rewriter.channels_last(x);
  const ValueId result = rewriter.add_twin(node.outputs[0]);
  const ValueId packed = pack(rewriter, *weight, view);
  rewriter.emit({node.definition, nullptr, std::move(kernel), {twin, packed}, {result}});
  return true;
}

/// `view`: the weight as [depth, columns].
bool emit_product(Rewriter& rewriter, const ProgramNode& node, const ProductWeight& weight,
                  const WeightView& view, OwnedEpilogue epilogue) {
  auto kernel = std::make_shared<ProductNode>();
  kernel->target = rewriter.target();
  kernel->depth = view.type.shape[0];
  kernel->columns = view.type.shape[1];
  kernel->weight_element = view.stored->type;
  kernel->zero_points = weight.column_zero_points(kernel->columns);
  kernel->epilogue = std::move(epilogue);
  kernel->name = node.definition->op_type;
  const ValueId packed = pack(rewriter, weight, view);
  const ValueId factors = rewriter.original(node.inputs[0]);
  rewriter.emit({node.definition, nullptr, std::move(kernel), {factors, packed}, node.outputs});
  return true;
}

bool lower_matmul(Rewriter& rewriter, const ProgramNode& node) {
  const ValueId x = node.inputs[0];
  if (!rewriter.is_f32(x) || rewriter.shape(x).rank() < 1) return false;
  const auto weight = product_weight(rewriter, node.inputs[1]);
  if (!weight || weight->shape().rank() != 2 || weight->shape().elements() == 0 ||
      !weight->per_column(1)) {
    return false;
  }
  return emit_product(rewriter, node, *weight, weight->view, weight->epilogue(weight->shape()[1]));
}

bool lower_gemm(Rewriter& rewriter, const ProgramNode& node) {
  const ValueId x = node.inputs[0];
  if (!rewriter.is_f32(x) || node.definition->integer("transA", 0) != 0) return false;
  const auto weight = product_weight(rewriter, node.inputs[1]);
  const bool turned = node.definition->integer("transB", 0) != 0;
  if (!weight || weight->shape().elements() == 0 || !weight->per_column(turned ? 0 : 1)) {
    return false;
  }
  WeightView view = weight->view;
  if (turned) {
    const std::int64_t swap[] = {1, 0};
    view = view.transposed(swap);
  }
  const std::int64_t columns = view.type.shape[1];
  OwnedEpilogue epilogue = weight->epilogue(columns);
  const auto count = static_cast<std::size_t>(columns);
  const float alpha = node.definition->real("alpha", 1.0F);
  if (alpha != 1.0F) epilogue.then_affine(std::span(&alpha, 1), {}, count);
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
    const Shape own = rewriter.shape(node.inputs[2]);
    auto bias = rewriter.floats(node.inputs[2]);
    const bool per_column =
        own.elements() == 1 || (own.elements() == columns && own.back() == columns);
    if (!bias || !per_column) return false;
    const float beta = node.definition->real("beta", 1.0F);
    for (float& b : *bias) b *= beta;
    epilogue.then_affine({}, *bias, count);
  }
  return emit_product(rewriter, node, *weight, view, std::move(epilogue));
}

}  // namespace

bool lower_product(Rewriter& rewriter, const ProgramNode& node) {
  if (is_op(node, "Conv")) return lower_convolution(rewriter, node);
  if (is_op(node, "ConvTranspose")) return lower_transposed(rewriter, node);
  if (is_op(node, "MatMul")) return lower_matmul(rewriter, node);
  if (is_op(node, "Gemm")) return lower_gemm(rewriter, node);
  return false;
}

}  // namespace plimsoll::tensor
