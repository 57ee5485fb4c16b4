#include "tensor/plan/rewriter.h"

#include <algorithm>

#include "tensor/graph/half.h"
#include "tensor/graph/specialize.h"

namespace plimsoll::tensor {

bool is_op(const ProgramNode& node, std::string_view name) {
  return node.kernel == nullptr && node.definition != nullptr && node.definition->domain.empty() &&
         node.definition->op_type == name;
}

Shape channels_last_shape(const Shape& shape) {
  if (shape.rank() == 3) return {shape[0], 1, shape[2], shape[1]};
  return {shape[0], shape[2], shape[3], shape[1]};
}

std::size_t channels_last_axis(std::size_t axis, std::size_t rank) {
  constexpr std::size_t of_signal[] = {0, 3, 2};
  constexpr std::size_t of_image[] = {0, 3, 1, 2};
  return rank == 3 ? of_signal[axis] : of_image[axis];
}

Rewriter::Rewriter(Program& program, kernels::Target target) : program_(program), target_(target) {
  readers_.assign(program.values.size(), 0);
  for (const ProgramNode& node : program.nodes) {
    for (ValueId id : node.inputs) {
      if (id != no_value) ++readers_[id];
    }
  }
  for (ValueId id : program.live_out) readers_[id] += 2;  // never fused away
}

std::vector<ProgramNode> Rewriter::take_nodes() {
  std::vector<ProgramNode> nodes = std::move(program_.nodes);
  program_.nodes.clear();
  return nodes;
}

void Rewriter::finish() {
  for (ValueId id : program_.live_out) (void)original(id);
  std::erase_if(emitted_, [](const ProgramNode& node) {
    return node.kernel == nullptr && node.definition == nullptr;
  });
  program_.nodes = std::move(emitted_);
}

ValueId Rewriter::add_value(ProgramValue value, std::uint32_t readers) {
  program_.values.push_back(std::move(value));
  readers_.push_back(readers);
  return static_cast<ValueId>(program_.values.size() - 1);
}

ValueId Rewriter::add_activation(std::string name, const TensorType& type) {
  ProgramValue fresh;
  fresh.name = std::move(name);
  fresh.type = type;
  fresh.kind = ValueKind::activation;
  return add_value(std::move(fresh), 0);
}

ValueId Rewriter::add_weight(const ProgramValue& like, WeightView view) {
  ProgramValue fresh;
  fresh.name = like.name;
  fresh.type = view.type;
  fresh.kind = ValueKind::weight;
  fresh.weight = std::move(view);
  return add_value(std::move(fresh), 1);
}

ValueId Rewriter::add_constant(std::string name, const TensorType& type,
                               std::vector<std::byte> bytes) {
  ProgramValue fresh;
  fresh.name = std::move(name);
  fresh.type = type;
  fresh.kind = ValueKind::constant;
  fresh.constant = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return add_value(std::move(fresh), 1);
}

ValueId Rewriter::add_integers(const std::vector<std::int64_t>& list) {
  const auto bytes = std::as_bytes(std::span(list));
  return add_constant({}, {ElementType::i64, {static_cast<std::int64_t>(list.size())}},
                      {bytes.begin(), bytes.end()});
}

std::optional<std::vector<float>> Rewriter::floats(ValueId id) {
  if (!is_f32(id)) return std::nullopt;
  if (const auto known = known_value(program_, id)) {
    const auto span = known->span<float>();
    return std::vector<float>(span.begin(), span.end());
  }
  constexpr std::int64_t most_columns = 1 << 18;
  const ProgramValue& vector = value(id);
  const std::int64_t count = vector.type.shape.elements();
  if (vector.kind != ValueKind::weight || count > most_columns || !vector.weight->dense()) {
    return std::nullopt;
  }
  const ElementType stored = vector.weight->stored->type;
  if (stored != ElementType::f32 && stored != ElementType::f16 && stored != ElementType::bf16) {
    return std::nullopt;
  }
  std::vector<float> list(static_cast<std::size_t>(count));
  if (stored == ElementType::f32) {
    vector.weight->stored->read(0, count, reinterpret_cast<std::byte*>(list.data()));
    return list;
  }
  std::vector<std::uint16_t> halves(list.size());
  vector.weight->stored->read(0, count, reinterpret_cast<std::byte*>(halves.data()));
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i] =
        stored == ElementType::f16 ? to_float(Float16{halves[i]}) : to_float(BFloat16{halves[i]});
  }
  return list;
}

void Rewriter::emit(ProgramNode node) {
  for (ValueId id : node.outputs) {
    if (id != no_value) maker_[id] = emitted_.size();
  }
  emitted_.push_back(std::move(node));
}

void Rewriter::emit_original(ProgramNode node) {
  for (ValueId& id : node.inputs) {
    if (id != no_value) id = original(id);
  }
  emit(std::move(node));
}

ProgramNode* Rewriter::maker(ValueId id) {
  const auto found = maker_.find(id);
  return found == maker_.end() ? nullptr : &emitted_[found->second];
}

void Rewriter::release(ValueId id) {
  std::vector<ValueId> released{id};
  while (!released.empty()) {
    id = released.back();
    released.pop_back();
    if (id == no_value || readers_[id] == 0) continue;
    --readers_[id];
    if (readers_[id] != 0) continue;
    ProgramNode* node = maker(id);
    if (node == nullptr || node->definition == nullptr ||
        std::ranges::any_of(node->outputs,
                            [&](ValueId out) { return out != no_value && readers_[out] != 0; })) {
      continue;
    }
    released.insert(released.end(), node->inputs.begin(), node->inputs.end());
    erase(*node);
  }
}

void Rewriter::emit_transpose(ValueId from, ValueId to, std::vector<std::int64_t> permutation) {
  auto definition = std::make_shared<Node>();
  definition->op_type = "Transpose";
  definition->name = value(from).name;
  definition->opset = 13;
  definition->inputs = {0};
  definition->outputs = {0};
  definition->attributes.emplace("perm", std::move(permutation));
  emit({definition, OperatorTable::builtin().find("", "Transpose", 13), nullptr, {from}, {to}});
}

void Rewriter::emit_view(ValueId from, ValueId to) {
  const auto dimensions = shape(to).dimensions();
  const ValueId wanted = add_integers({dimensions.begin(), dimensions.end()});
  auto definition = std::make_shared<Node>();
  definition->op_type = "Reshape";
  definition->name = value(from).name;
  definition->opset = 13;
  definition->inputs = {0, 1};
  definition->outputs = {0};
  emit({definition,
        OperatorTable::builtin().find("", "Reshape", 13),
        nullptr,
        {from, wanted},
        {to}});
}

TensorType Rewriter::image_type(ValueId id) {
  TensorType type = value(id).type;
  if (type.shape.rank() == 3) {
    type.shape = {type.shape[0], type.shape[1], 1, type.shape[2]};
  }
  return type;
}

std::optional<ValueId> Rewriter::only_twin(ValueId id) const {
  const auto twin = last_.find(id);
  if (twin == last_.end() || have_original_.contains(id)) return std::nullopt;
  return twin->second;
}

ValueId Rewriter::original(ValueId id) {
  const auto twin = only_twin(id);
  if (!twin || value(id).kind != ValueKind::activation) return id;
  have_original_.emplace(id, true);
  if (shape(id).rank() == 4) {
    emit_transpose(*twin, id, {0, 3, 1, 2});
    return id;
  }
  const ValueId image = add_activation(value(id).name, image_type(id));
  emit_transpose(*twin, image, {0, 3, 1, 2});
  emit_view(image, id);
  return id;
}

ValueId Rewriter::channels_last(ValueId id) {
  if (const auto twin = last_.find(id); twin != last_.end()) return twin->second;
  // A Transpose from channels-last to channels-first (models that take N×H×W×C): its source is the
  // twin.
  if (const ProgramNode* made = maker(id); made != nullptr && is_op(*made, "Transpose")) {
    if (made->definition->integers("perm") == std::vector<std::int64_t>{0, 3, 1, 2}) {
      const ValueId source = made->inputs[0];
      last_[id] = source;
      have_original_.emplace(id, true);
      return source;
    }
  }
  ValueId image = id;
  if (shape(id).rank() == 3) {
    image = add_activation(value(id).name, image_type(id));
    emit_view(id, image);
  }
  const ValueId twin = add_twin(id);
  have_original_.emplace(id, true);
  emit_transpose(image, twin, {0, 2, 3, 1});
  return twin;
}

ValueId Rewriter::add_twin(ValueId id) {
  const TensorType type = value(id).type;
  const ValueId twin =
      add_activation(value(id).name, {type.element, channels_last_shape(type.shape)});
  last_[id] = twin;
  return twin;
}

}  // namespace plimsoll::tensor
