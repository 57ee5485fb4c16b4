#include "tensor/plan/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "tensor/graph/specialize.h"
#include "tensor/operators/spatial.h"
#include "tensor/plan/epilogue_match.h"
#include "tensor/plan/image_node.h"
#include "tensor/plan/product_node.h"

namespace plimsoll::tensor {
namespace {

bool is_op(const ProgramNode& node, std::string_view name) {
  return node.kernel == nullptr && node.definition->domain.empty() &&
         node.definition->op_type == name;
}

/// N×C×H×W → N×H×W×C and back.
Shape last_of(const Shape& shape) {
  return {shape[0], shape[2], shape[3], shape[1]};
}

class Lowering {
 public:
  Lowering(Program& program, kernels::Target target) : program_(program), target_(target) {
    readers_.assign(program.values.size(), 0);
    for (const ProgramNode& node : program.nodes) {
      for (ValueId id : node.inputs) {
        if (id != no_value) ++readers_[id];
      }
    }
    for (ValueId id : program.live_out) readers_[id] += 2;  // never fused away
  }

  void run() {
    std::vector<ProgramNode> nodes = std::move(program_.nodes);
    program_.nodes.clear();
    for (ProgramNode& node : nodes) {
      if (!lower(node)) emit_original(std::move(node));
    }
    for (ValueId id : program_.live_out) (void)original(id);
    std::erase_if(emitted_, [](const ProgramNode& node) {
      return node.kernel == nullptr && node.definition == nullptr;
    });
    program_.nodes = std::move(emitted_);
  }

 private:
  ProgramValue& value(ValueId id) { return program_.values[id]; }
  bool is_f32(ValueId id) { return value(id).type.element == ElementType::f32; }

  ValueId add_value(std::string name, const TensorType& type) {
    ProgramValue fresh;
    fresh.name = std::move(name);
    fresh.type = type;
    fresh.kind = ValueKind::activation;
    program_.values.push_back(std::move(fresh));
    readers_.push_back(0);
    return static_cast<ValueId>(program_.values.size() - 1);
  }

  void emit(ProgramNode node) {
    for (ValueId id : node.outputs) {
      if (id != no_value) maker_[id] = emitted_.size();
    }
    emitted_.push_back(std::move(node));
  }

  void emit_original(ProgramNode node) {
    for (ValueId& id : node.inputs) {
      if (id != no_value) id = original(id);
    }
    emit(std::move(node));
  }

  ProgramNode transpose(ValueId from, ValueId to, std::vector<std::int64_t> permutation) {
    auto definition = std::make_shared<Node>();
    definition->op_type = "Transpose";
    definition->name = value(from).name;
    definition->opset = 13;
    definition->inputs = {0};
    definition->outputs = {0};
    definition->attributes.emplace("perm", std::move(permutation));
    return {definition, OperatorTable::builtin().find("", "Transpose", 13), nullptr, {from}, {to}};
  }

  /// The value in the graph's order; made from its channels-last twin where only that exists.
  ValueId original(ValueId id) {
    const auto twin = last_.find(id);
    if (twin == last_.end() || have_original_.contains(id) ||
        value(id).kind != ValueKind::activation) {
      return id;
    }
    have_original_.emplace(id, true);
    emit(transpose(twin->second, id, {0, 3, 1, 2}));
    return id;
  }

  /// The channels-last twin; made by a Transpose where there is none.
  ValueId channels_last(ValueId id) {
    if (const auto twin = last_.find(id); twin != last_.end()) return twin->second;
    const Shape shape = value(id).type.shape;
    // A Transpose from channels-last to channels-first (models that take N×H×W×C): its source is
    // the twin.
    if (const auto made = maker_.find(id); made != maker_.end()) {
      const ProgramNode& node = emitted_[made->second];
      if (is_op(node, "Transpose") &&
          node.definition->integers("perm") == std::vector<std::int64_t>{0, 3, 1, 2}) {
        last_[id] = node.inputs[0];
        have_original_.emplace(id, true);
        return node.inputs[0];
      }
    }
    const ValueId twin = add_value(value(id).name, {value(id).type.element, last_of(shape)});
    last_[id] = twin;
    if (value(id).kind == ValueKind::activation) have_original_.emplace(id, true);
    emit(transpose(id, twin, {0, 2, 3, 1}));
    return twin;
  }

  bool has_twin(ValueId id) { return last_.contains(id); }

  /// Registers `twin` as the channels-last form of `id`, which is not made in the graph's order.
  void set_twin(ValueId id, ValueId twin) { last_[id] = twin; }

  // --- products and convolutions
  // ------------------------------------------------------------------

  bool usable_weight(ValueId id) {
    const ProgramValue& weight = value(id);
    if (weight.kind != ValueKind::weight || weight.type.element != ElementType::f32) return false;
    const StoredTensor& stored = *weight.weight->stored;
    return stored.storage.form == StorageType::Form::dense &&
           (stored.type == ElementType::f32 || stored.type == ElementType::f16 ||
            stored.type == ElementType::bf16) &&
           stored.storage.element == stored.type;
  }

  ValueId weight_value(const ProgramValue& like, WeightView view) {
    ProgramValue fresh;
    fresh.name = like.name;
    fresh.type = view.type;
    fresh.kind = ValueKind::weight;
    fresh.weight = std::move(view);
    program_.values.push_back(std::move(fresh));
    readers_.push_back(1);
    return static_cast<ValueId>(program_.values.size() - 1);
  }

  /// One value for each column of a wide weight: more than folding keeps, little beside the weight.
  std::optional<std::vector<float>> column_vector(ValueId id) {
    constexpr std::int64_t most_columns = 1 << 18;
    const ProgramValue& vector = value(id);
    if (vector.kind != ValueKind::weight || vector.type.shape.elements() > most_columns ||
        !vector.weight->dense() || vector.weight->stored->type != ElementType::f32) {
      return std::nullopt;
    }
    std::vector<float> list(static_cast<std::size_t>(vector.type.shape.elements()));
    vector.weight->stored->read(0, vector.type.shape.elements(),
                                reinterpret_cast<std::byte*>(list.data()));
    return list;
  }

  std::optional<std::vector<float>> floats(ValueId id) {
    if (!is_f32(id)) return std::nullopt;
    const auto known = known_value(program_, id);
    if (!known) return column_vector(id);
    const auto span = known->span<float>();
    return std::vector<float>(span.begin(), span.end());
  }

  bool lower(ProgramNode& node) {
    if (node.kernel != nullptr || node.definition == nullptr) return false;
    if (absorb(node)) return true;
    if (is_op(node, "Conv")) return lower_convolution(node);
    if (is_op(node, "ConvTranspose")) return lower_transposed(node);
    if (is_op(node, "MatMul")) return lower_matmul(node);
    if (is_op(node, "Gemm")) return lower_gemm(node);
    return lower_image_operator(node);
  }

  bool lower_convolution(const ProgramNode& node) {
    const ValueId x = node.inputs[0];
    const ValueId w = node.inputs[1];
    if (!is_f32(x) || value(x).type.shape.rank() != 4 || !usable_weight(w)) return false;
    const ProgramValue weight = value(w);
    if (!weight.weight->dense()) return false;
    const Shape filter = weight.type.shape;
    const Shape input = value(x).type.shape;
    const Shape output = value(node.outputs[0]).type.shape;
    if (output.elements() == 0 || input.elements() == 0) return false;
    const std::int64_t groups = node.definition->integer("group", 1);
    const bool depthwise = groups > 1 && groups == input[1] && filter[0] == groups;
    if (groups != 1 && !depthwise) return false;
    if (depthwise && filter[2] > largest_depthwise_kernel) return false;
    const SpatialWindow spatial =
        spatial_window(*node.definition, input, filter.dimensions().subspan(2));
    ImageWindow window{filter[2],
                       filter[3],
                       spatial.strides[0],
                       spatial.strides[1],
                       spatial.dilations[0],
                       spatial.dilations[1],
                       spatial.pads_begin[0],
                       spatial.pads_begin[1]};
    std::vector<float> bias;
    if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
      const auto known = floats(node.inputs[2]);
      if (!known) return false;
      bias = *known;
    }
    std::shared_ptr<KernelNode> kernel;
    if (depthwise) {
      auto made = std::make_shared<DepthwiseNode>();
      made->target = target_;
      made->channels = groups;
      made->window = window;
      made->epilogue.shift = std::move(bias);
      made->name = "DepthwiseConv";
      kernel = std::move(made);
    } else {
      auto made = std::make_shared<ProductNode>();
      made->target = target_;
      made->depth = input[1];
      made->columns = filter[0];
      made->convolution = true;
      made->window = window;
      made->weight_element = weight.weight->stored->type;
      made->epilogue.shift = std::move(bias);
      made->name = "Conv";
      kernel = std::move(made);
    }
    const auto view = weight.weight->reshaped({filter[0], filter[1], filter[2] * filter[3]});
    if (!view) return false;
    const ValueId twin = channels_last(x);
    const ValueId result =
        add_value(value(node.outputs[0]).name, {ElementType::f32, last_of(output)});
    const ValueId packed = weight_value(weight, *view);
    set_twin(node.outputs[0], result);
    emit({node.definition, nullptr, std::move(kernel), {twin, packed}, {result}});
    return true;
  }

  bool lower_transposed(const ProgramNode& node) {
    const ValueId x = node.inputs[0];
    const ValueId w = node.inputs[1];
    if (!is_f32(x) || value(x).type.shape.rank() != 4 || !usable_weight(w)) return false;
    const ProgramValue weight = value(w);
    const Shape filter = weight.type.shape;
    const Shape output = value(node.outputs[0]).type.shape;
    if (!weight.weight->dense() || node.definition->integer("group", 1) != 1 ||
        output.elements() == 0 || value(x).type.shape.elements() == 0) {
      return false;
    }
    const SpatialWindow spatial =
        transposed_window(*node.definition, value(x).type.shape, filter.dimensions().subspan(2));
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (spatial.strides[axis] != spatial.kernel[axis] || spatial.dilations[axis] != 1 ||
          spatial.pads_begin[axis] != 0 ||
          spatial.output[axis] != spatial.input[axis] * spatial.kernel[axis]) {
        return false;
      }
    }
    auto kernel = std::make_shared<ProductNode>();
    if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
      const auto known = floats(node.inputs[2]);
      if (!known) return false;
      kernel->epilogue.shift = *known;
    }
    kernel->target = target_;
    kernel->depth = filter[0];
    kernel->columns = filter[1];
    kernel->convolution = true;
    kernel->transposed = true;
    kernel->window = {filter[2], filter[3], filter[2], filter[3], 1, 1, 0, 0};
    kernel->weight_element = weight.weight->stored->type;
    kernel->name = "ConvTranspose";
    const auto view = weight.weight->reshaped({filter[0], filter[1], filter[2] * filter[3]});
    const ValueId twin = channels_last(x);
    const ValueId result =
        add_value(value(node.outputs[0]).name, {ElementType::f32, last_of(output)});
    const ValueId packed = weight_value(weight, *view);
    set_twin(node.outputs[0], result);
    emit({node.definition, nullptr, std::move(kernel), {twin, packed}, {result}});
    return true;
  }

  bool emit_product(const ProgramNode& node, const WeightView& view, OwnedEpilogue epilogue) {
    const ProgramValue weight = value(node.inputs[1]);
    auto kernel = std::make_shared<ProductNode>();
    kernel->target = target_;
    kernel->depth = view.type.shape[0];
    kernel->columns = view.type.shape[1];
    kernel->weight_element = view.stored->type;
    kernel->epilogue = std::move(epilogue);
    kernel->name = node.definition->op_type;
    const ValueId packed = weight_value(weight, view);
    emit({node.definition,
          nullptr,
          std::move(kernel),
          {original(node.inputs[0]), packed},
          node.outputs});
    return true;
  }

  bool lower_matmul(const ProgramNode& node) {
    const ValueId x = node.inputs[0];
    const ValueId w = node.inputs[1];
    if (!is_f32(x) || value(x).type.shape.rank() < 1) return false;
    if (value(w).kind == ValueKind::activation) return lower_quantized_matmul(node);
    if (!usable_weight(w)) return false;
    const WeightView& view = *value(w).weight;
    if (view.type.shape.rank() != 2 || view.type.shape.elements() == 0) return false;
    return emit_product(node, view, {});
  }

  /// MatMul of DequantizeLinear of an i8 weight without zero point: the bytes are packed as they
  /// are, and the scale, one for all or one for each column, is the epilogue's.
  bool lower_quantized_matmul(const ProgramNode& node) {
    const auto made = maker_.find(node.inputs[1]);
    if (made == maker_.end() || !is_op(emitted_[made->second], "DequantizeLinear")) return false;
    const ProgramNode dequantize = emitted_[made->second];
    const ProgramValue weight = value(dequantize.inputs[0]);
    if (weight.kind != ValueKind::weight || weight.type.element != ElementType::i8 ||
        weight.type.shape.rank() != 2 || weight.type.shape.elements() == 0 ||
        weight.weight->stored->storage.form != StorageType::Form::dense ||
        dequantize.definition->integer("block_size", 0) != 0) {
      return false;
    }
    if (dequantize.inputs.size() > 2 && dequantize.inputs[2] != no_value) {
      const auto zero = known_value(program_, dequantize.inputs[2]);
      if (!zero || zero->type != ElementType::i8 ||
          std::ranges::any_of(zero->span<std::int8_t>(), [](std::int8_t z) { return z != 0; })) {
        return false;
      }
    }
    const auto scale = floats(dequantize.inputs[1]);
    const std::int64_t axis = dequantize.definition->integer("axis", 1);
    const auto columns = static_cast<std::size_t>(weight.type.shape[1]);
    const bool by_column = scale && scale->size() == columns && (axis == 1 || axis == -1);
    if (!scale || (scale->size() != 1 && !by_column)) return false;
    OwnedEpilogue epilogue;
    epilogue.then_affine(*scale, {}, columns);
    ProgramNode product = node;
    product.inputs[1] = dequantize.inputs[0];
    if (--readers_[node.inputs[1]] == 0) emitted_[made->second] = ProgramNode{};
    return emit_product(product, *weight.weight, std::move(epilogue));
  }

  bool lower_gemm(const ProgramNode& node) {
    const ValueId x = node.inputs[0];
    const ValueId w = node.inputs[1];
    if (!is_f32(x) || node.definition->integer("transA", 0) != 0 || !usable_weight(w)) return false;
    WeightView view = *value(w).weight;
    if (view.type.shape.elements() == 0) return false;
    if (node.definition->integer("transB", 0) != 0) {
      const std::int64_t swap[] = {1, 0};
      view = view.transposed(swap);
    }
    OwnedEpilogue epilogue;
    const auto columns = static_cast<std::size_t>(view.type.shape[1]);
    const float alpha = node.definition->real("alpha", 1.0F);
    if (alpha != 1.0F) epilogue.then_affine(std::span(&alpha, 1), {}, columns);
    if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
      const Shape own = value(node.inputs[2]).type.shape;
      auto bias = floats(node.inputs[2]);
      const bool per_column = own.elements() == 1 || (own.elements() == view.type.shape[1] &&
                                                      own.back() == view.type.shape[1]);
      if (!bias || !per_column) return false;
      const float beta = node.definition->real("beta", 1.0F);
      for (float& b : *bias) b *= beta;
      epilogue.then_affine({}, *bias, columns);
    }
    return emit_product(node, view, std::move(epilogue));
  }

  // --- epilogues
  // ------------------------------------------------------------------------------------

  /// The emitted kernel that made `id` (or its twin) and may still grow: its result has one reader.
  ProgramNode* growable(ValueId id) {
    if (id == no_value || readers_[id] != 1) return nullptr;
    ValueId made = id;
    if (const auto twin = last_.find(id); twin != last_.end()) {
      if (have_original_.contains(id)) return nullptr;
      made = twin->second;
    }
    const auto found = maker_.find(made);
    if (found == maker_.end()) return nullptr;
    ProgramNode& node = emitted_[found->second];
    if (node.kernel == nullptr || epilogue_of(node) == nullptr) return nullptr;
    return &node;
  }

  static const OwnedEpilogue* epilogue_of(const ProgramNode& node) {
    if (const auto* product = dynamic_cast<const ProductNode*>(node.kernel.get())) {
      return &product->epilogue;
    }
    if (const auto* depthwise = dynamic_cast<const DepthwiseNode*>(node.kernel.get())) {
      return &depthwise->epilogue;
    }
    return nullptr;
  }

  /// The kernel with another epilogue, computed here instead of where it stood.
  void regrow(ProgramNode& grown, const ProgramNode& reader, OwnedEpilogue epilogue,
              std::optional<ValueId> residual) {
    ProgramNode fresh = std::move(grown);
    grown = ProgramNode{};  // erased at the end
    std::shared_ptr<KernelNode> kernel;
    const auto extend = [&](auto copy) {
      copy->epilogue = std::move(epilogue);
      copy->name += "+" + reader.definition->op_type;
      kernel = std::move(copy);
    };
    if (const auto* product = dynamic_cast<const ProductNode*>(fresh.kernel.get())) {
      extend(std::make_shared<ProductNode>(*product));
    } else {
      extend(std::make_shared<DepthwiseNode>(dynamic_cast<const DepthwiseNode&>(*fresh.kernel)));
    }
    if (residual) fresh.inputs.push_back(*residual);
    const ValueId out = reader.outputs[0];
    const bool image = value(fresh.outputs[0]).type.shape.rank() == 4 && is_image(*kernel);
    if (image) {
      const ValueId twin = add_value(value(out).name, value(fresh.outputs[0]).type);
      set_twin(out, twin);
      fresh.outputs = {twin};
    } else {
      fresh.outputs = {out};
    }
    fresh.kernel = std::move(kernel);
    emit(std::move(fresh));
  }

  static bool is_image(const KernelNode& kernel) {
    const auto* product = dynamic_cast<const ProductNode*>(&kernel);
    return product == nullptr || product->image();
  }

  static std::size_t columns_of(const ProgramNode& node) {
    if (const auto* product = dynamic_cast<const ProductNode*>(node.kernel.get())) {
      return static_cast<std::size_t>(product->columns);
    }
    return static_cast<std::size_t>(dynamic_cast<const DepthwiseNode&>(*node.kernel).channels);
  }

  /// One value for each column, or one for all; nothing where the shape is another.
  std::optional<std::vector<float>> per_column(ValueId id, bool image, std::size_t columns) {
    if (id == no_value) return std::nullopt;
    const Shape shape = value(id).type.shape;
    auto list = floats(id);
    if (!list) return std::nullopt;
    if (list->size() == 1) return shape.rank() <= 4 ? list : std::nullopt;
    if (list->size() != columns || shape.rank() == 0) return std::nullopt;
    const std::size_t axis =
        image ? (shape.rank() >= 3 ? shape.rank() - 3 : SIZE_MAX) : shape.rank() - 1;
    if (axis >= shape.rank() || shape[axis] != static_cast<std::int64_t>(columns)) {
      return std::nullopt;
    }
    return list;
  }

  bool absorb(const ProgramNode& node) {
    if (node.outputs.empty() || node.outputs[0] == no_value || node.inputs.empty()) return false;
    for (std::size_t side = 0; side < std::min<std::size_t>(node.inputs.size(), 2); ++side) {
      ProgramNode* grown = growable(node.inputs[side]);
      if (grown == nullptr) continue;
      if (value(node.outputs[0]).type != value(node.inputs[side]).type) continue;
      if (absorb_into(*grown, node, side)) return true;
    }
    return false;
  }

  bool absorb_into(ProgramNode& grown, const ProgramNode& node, std::size_t side) {
    OwnedEpilogue epilogue = *epilogue_of(grown);
    const bool image = is_image(*grown.kernel);
    const std::size_t columns = columns_of(grown);
    const bool open = epilogue.activation == kernels::Activation::none && !epilogue.has_residual;
    const ValueId other = node.inputs.size() > 1 ? node.inputs[1 - side] : no_value;

    if (side == 0 && epilogue.activation == kernels::Activation::none &&
        !epilogue.residual_after_activation) {
      if (auto activation = match_activation(program_, node)) {
        epilogue.activation = activation->activation;
        epilogue.low = activation->low;
        epilogue.high = activation->high;
        regrow(grown, node, std::move(epilogue), std::nullopt);
        return true;
      }
    }
    if (open && side == 0 && is_op(node, "BatchNormalization") && image &&
        node.definition->integer("training_mode", 0) == 0) {
      if (auto affine = batch_normalization(node)) {
        epilogue.then_affine(affine->first, affine->second, columns);
        regrow(grown, node, std::move(epilogue), std::nullopt);
        return true;
      }
    }
    const bool add = is_op(node, "Add");
    const bool subtract = is_op(node, "Sub") && side == 0;
    const bool multiply = is_op(node, "Mul");
    const bool divide = is_op(node, "Div") && side == 0;
    if (open && (add || subtract || multiply || divide)) {
      if (auto list = per_column(other, image, columns)) {
        for (float& x : *list) {
          if (subtract) x = -x;
          if (divide) x = 1.0F / x;
        }
        if (add || subtract) {
          epilogue.then_affine({}, *list, columns);
        } else {
          epilogue.then_affine(*list, {}, columns);
        }
        regrow(grown, node, std::move(epilogue), std::nullopt);
        return true;
      }
    }
    // A residual: the other operand has the same shape and is computed by now.
    if (add && !epilogue.has_residual && other != no_value && other != node.inputs[side] &&
        value(other).type == value(node.inputs[side]).type &&
        value(other).kind != ValueKind::weight) {
      epilogue.has_residual = true;
      epilogue.residual_after_activation = epilogue.activation != kernels::Activation::none;
      const ValueId residual = image ? channels_last(other) : original(other);
      // Making the residual may have moved what was emitted.
      ProgramNode* again = growable(node.inputs[side]);
      if (again == nullptr) return false;
      regrow(*again, node, std::move(epilogue), residual);
      return true;
    }
    return false;
  }

  std::optional<std::pair<std::vector<float>, std::vector<float>>> batch_normalization(
      const ProgramNode& node) {
    std::vector<float> lists[4];
    for (std::size_t index = 0; index < 4; ++index) {
      auto known = floats(node.inputs[index + 1]);
      if (!known) return std::nullopt;
      lists[index] = std::move(*known);
    }
    const float epsilon = node.definition->real("epsilon", 1e-5F);
    std::vector<float> factor(lists[0].size());
    std::vector<float> term(lists[0].size());
    for (std::size_t c = 0; c < factor.size(); ++c) {
      factor[c] = lists[0][c] / std::sqrt(lists[3][c] + epsilon);
      term[c] = lists[1][c] - lists[2][c] * factor[c];
    }
    return std::pair(std::move(factor), std::move(term));
  }

  // --- other operators on channels-last images
  // -----------------------------------------------------

  bool lower_image_operator(const ProgramNode& node) {
    if (!node.definition->domain.empty() || node.outputs.size() != 1 || node.inputs.empty() ||
        node.inputs[0] == no_value) {
      return false;
    }
    const TensorType output = value(node.outputs[0]).type;
    if (output.shape.rank() != 4) return false;
    // Only where an operand is channels-last already; otherwise there is nothing to gain.
    bool any = false;
    for (ValueId id : node.inputs) any = any || (id != no_value && has_twin(id));
    if (!any) return false;
    const std::string& op = node.definition->op_type;
    if (auto kernel = make_image_node(program_, node)) {
      const ValueId twin =
          add_value(value(node.outputs[0]).name, {output.element, last_of(output.shape)});
      const ValueId input = channels_last(node.inputs[0]);
      set_twin(node.outputs[0], twin);
      emit({node.definition, nullptr, std::move(kernel), {input}, {twin}});
      return true;
    }
    if (op == "Concat") return lower_concat(node, output);
    if (op == "Pad") return lower_pad(node, output);
    if (op == "Slice") return lower_slice(node, output);
    if (is_elementwise(op)) return lower_elementwise(node, output);
    return false;
  }

  bool lower_concat(const ProgramNode& node, const TensorType& output) {
    std::int64_t axis = node.definition->integer("axis", 1);
    if (axis < 0) axis += 4;
    constexpr std::int64_t moved[] = {0, 3, 1, 2};
    auto definition = std::make_shared<Node>(*node.definition);
    definition->attributes["axis"] = moved[axis];
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) {
      if (value(id).kind == ValueKind::weight) return false;
    }
    for (ValueId id : node.inputs) inputs.push_back(channels_last(id));
    const ValueId twin =
        add_value(value(node.outputs[0]).name, {output.element, last_of(output.shape)});
    set_twin(node.outputs[0], twin);
    emit({definition, node.op, nullptr, std::move(inputs), {twin}});
    return true;
  }

  ValueId integers_value(std::vector<std::int64_t> list) {
    ProgramValue fresh;
    fresh.type = {ElementType::i64, {static_cast<std::int64_t>(list.size())}};
    fresh.kind = ValueKind::constant;
    const auto bytes = std::as_bytes(std::span(list));
    fresh.constant = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    program_.values.push_back(std::move(fresh));
    readers_.push_back(1);
    return static_cast<ValueId>(program_.values.size() - 1);
  }

  bool emit_moved(const ProgramNode& node, const TensorType& output, std::vector<ValueId> inputs) {
    inputs[0] = channels_last(inputs[0]);
    const ValueId twin =
        add_value(value(node.outputs[0]).name, {output.element, last_of(output.shape)});
    set_twin(node.outputs[0], twin);
    emit({node.definition, node.op, nullptr, std::move(inputs), {twin}});
    return true;
  }

  bool lower_pad(const ProgramNode& node, const TensorType& output) {
    if (node.definition->opset < 11 || node.inputs.size() < 2 ||
        (node.inputs.size() > 3 && node.inputs[3] != no_value)) {
      return false;
    }
    const auto known = known_value(program_, node.inputs[1]);
    if (!known || known->type != ElementType::i64 || known->elements() != 8) return false;
    const auto* p = known->as<std::int64_t>();
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = integers_value({p[0], p[2], p[3], p[1], p[4], p[6], p[7], p[5]});
    return emit_moved(node, output, std::move(inputs));
  }

  bool lower_slice(const ProgramNode& node, const TensorType& output) {
    if (node.definition->opset < 10 || node.inputs.size() < 4 || node.inputs[3] == no_value) {
      return false;
    }
    const auto known = known_value(program_, node.inputs[3]);
    if (!known || known->type != ElementType::i64) return false;
    constexpr std::int64_t moved[] = {0, 3, 1, 2};
    std::vector<std::int64_t> axes;
    for (std::int64_t axis : known->span<std::int64_t>()) {
      axes.push_back(moved[axis < 0 ? axis + 4 : axis]);
    }
    std::vector<ValueId> inputs = node.inputs;
    inputs[3] = integers_value(std::move(axes));
    return emit_moved(node, output, std::move(inputs));
  }

  static bool is_elementwise(const std::string& op) {
    static constexpr std::string_view names[] = {
        "Add",  "Sub",         "Mul",       "Div",  "Relu",    "Clip", "Sigmoid",   "Tanh",
        "Sqrt", "HardSigmoid", "HardSwish", "Abs",  "Neg",     "Exp",  "LeakyRelu", "Pow",
        "Max",  "Min",         "Equal",     "Cast", "Greater", "Less", "Erf",       "Softplus"};
    return std::ranges::find(names, op) != std::end(names);
  }

  /// An operand of an elementwise operator for channels-last results; nothing where it has none.
  std::optional<ValueId> elementwise_operand(ValueId id) {
    const Shape shape = value(id).type.shape;
    if (shape.elements() == 1 && shape.rank() <= 4) {
      return value(id).kind == ValueKind::activation ? std::optional(original(id)) : id;
    }
    if (shape.rank() == 4 && value(id).kind != ValueKind::weight) {
      if (value(id).kind != ValueKind::constant) return channels_last(id);
    }
    const auto known = known_value(program_, id);
    if (!known || shape.rank() > 4) return std::nullopt;
    // A constant: its dimensions are filled up in front, then moved.
    std::vector<std::int64_t> dims(4 - shape.rank(), 1);
    dims.insert(dims.end(), shape.dimensions().begin(), shape.dimensions().end());
    const std::size_t width = element_size(known->type);
    auto bytes = std::make_shared<std::vector<std::byte>>(known->bytes());
    std::byte* to = bytes->data();
    for (std::int64_t n = 0; n < dims[0]; ++n) {
      for (std::int64_t h = 0; h < dims[2]; ++h) {
        for (std::int64_t w = 0; w < dims[3]; ++w) {
          for (std::int64_t c = 0; c < dims[1]; ++c) {
            const std::int64_t from = ((n * dims[1] + c) * dims[2] + h) * dims[3] + w;
            std::copy_n(known->data + static_cast<std::size_t>(from) * width, width, to);
            to += width;
          }
        }
      }
    }
    ProgramValue fresh;
    fresh.name = value(id).name;
    fresh.type = {known->type, {dims[0], dims[2], dims[3], dims[1]}};
    fresh.kind = ValueKind::constant;
    fresh.constant = std::move(bytes);
    program_.values.push_back(std::move(fresh));
    readers_.push_back(1);
    return static_cast<ValueId>(program_.values.size() - 1);
  }

  bool lower_elementwise(const ProgramNode& node, const TensorType& output) {
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) {
      if (id == no_value) {
        inputs.push_back(no_value);
        continue;
      }
      const auto operand = elementwise_operand(id);
      if (!operand) return false;
      inputs.push_back(*operand);
    }
    const ValueId twin =
        add_value(value(node.outputs[0]).name, {output.element, last_of(output.shape)});
    set_twin(node.outputs[0], twin);
    emit({node.definition, node.op, nullptr, std::move(inputs), {twin}});
    return true;
  }

  Program& program_;
  kernels::Target target_;
  std::vector<std::uint32_t> readers_;
  std::vector<ProgramNode> emitted_;
  std::unordered_map<ValueId, std::size_t> maker_;
  std::unordered_map<ValueId, ValueId> last_;        ///< channels-last twins
  std::unordered_map<ValueId, bool> have_original_;  ///< of those with a twin
};

}  // namespace

void lower_program(Program& program, kernels::Target target) {
  Lowering(program, target).run();
}

}  // namespace plimsoll::tensor
