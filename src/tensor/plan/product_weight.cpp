#include "tensor/plan/product_weight.h"

#include <algorithm>

#include "tensor/graph/specialize.h"

namespace plimsoll::tensor {
namespace {

bool is_byte(ElementType type) {
  return type == ElementType::i8 || type == ElementType::u8;
}

/// A weight whose source holds plain elements of the type that packing keeps.
bool is_packable(const ProgramValue& value) {
  if (value.kind != ValueKind::weight) return false;
  const StoredTensor& stored = *value.weight->stored;
  return stored.storage.form == StorageType::Form::dense && stored.storage.element == stored.type;
}

std::optional<ProductWeight> dequantized(Rewriter& rewriter, ValueId id) {
  const ProgramNode* node = rewriter.maker(id);
  if (node == nullptr || !is_op(*node, "DequantizeLinear")) return std::nullopt;
  const ProgramValue& source = rewriter.value(node->inputs[0]);
  if (!is_byte(source.type.element) || !is_packable(source) ||
      source.weight->stored->type != source.type.element ||
      node->definition->integer("block_size", 0) != 0 || source.type.shape.rank() == 0) {
    return std::nullopt;
  }
  ProductWeight weight;
  weight.view = *source.weight;
  weight.value = id;
  const auto rank = static_cast<std::int64_t>(source.type.shape.rank());
  std::int64_t axis = node->definition->integer("axis", 1);
  if (axis < 0) axis += rank;
  weight.axis = static_cast<std::size_t>(axis);
  const auto scale = rewriter.floats(node->inputs[1]);
  if (!scale || scale->empty() || rewriter.shape(node->inputs[1]).rank() > 1) return std::nullopt;
  weight.scale = *scale;
  if (node->inputs.size() <= 2 || node->inputs[2] == no_value) return weight;
  const auto zero = known_value(rewriter.program(), node->inputs[2]);
  if (!zero || zero->type != source.type.element) return std::nullopt;
  const auto widen = [&](const auto& list) {
    if (std::ranges::all_of(list, [](auto z) { return z == 0; })) return;
    weight.zero_points.assign(list.begin(), list.end());
  };
  if (zero->type == ElementType::i8) {
    widen(zero->span<std::int8_t>());
  } else {
    widen(zero->span<std::uint8_t>());
  }
  return weight;
}

std::vector<float> repeated(const std::vector<float>& list, std::int64_t count) {
  if (list.size() != 1) return list;
  std::vector<float> all(static_cast<std::size_t>(count), list.front());
  return all;
}

}  // namespace

OwnedEpilogue ProductWeight::epilogue(std::int64_t columns) const {
  OwnedEpilogue epilogue;
  if (quantized()) epilogue.then_affine(scale, {}, static_cast<std::size_t>(columns));
  return epilogue;
}

std::vector<float> ProductWeight::column_zero_points(std::int64_t columns) const {
  return repeated(zero_points, columns);
}

std::optional<ProductWeight> product_weight(Rewriter& rewriter, ValueId id) {
  if (!rewriter.is_f32(id)) return std::nullopt;
  const ProgramValue& value = rewriter.value(id);
  if (value.kind == ValueKind::activation) return dequantized(rewriter, id);
  if (!is_packable(value)) return std::nullopt;
  const ElementType stored = value.weight->stored->type;
  if (stored != ElementType::f32 && stored != ElementType::f16 && stored != ElementType::bf16) {
    return std::nullopt;
  }
  ProductWeight weight;
  weight.view = *value.weight;
  weight.value = id;
  return weight;
}

}  // namespace plimsoll::tensor
