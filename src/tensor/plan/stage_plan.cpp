#include "tensor/plan/stage_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/encode/encode_columns.h"
#include "tensor/graph/specialize.h"
#include "tensor/operators/planned_context.h"
#include "tensor/plan/kernel_node.h"
#include "tensor/plan/row_form.h"

namespace plimsoll::tensor {
namespace {

std::uint64_t value_bytes(const ProgramValue& value) {
  return checked_bytes(value.type.shape, element_size(value.type.element), value.name.c_str());
}

/// Memory that one or more values share: views, and outputs computed in place.
struct Buffer {
  std::uint64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  bool external = false;  ///< not in the arena
};

class StagePlanner {
 public:
  StagePlanner(Program& program, const StripFacts& facts, const StageOptions& options)
      : program_(program),
        options_(options),
        buffer_of_(program.values.size(), none),
        place_of_(program.values.size()) {
    for (const PlacedPart& part : options.placed) part_of_.emplace(part.part, part);
    for (const PlacedPart& part : options.placed) whole_of_.emplace(part.whole, none);
    for (const StripGroup& group : options.strips) {
      auto walk = StripWalk::of(program, facts, group);
      if (!walk) {
        fail_internal(
            fmt::format("nodes {} to {} cannot be computed in strips", group.first, group.last));
      }
      std::vector<std::int64_t> rings = ring_rows(program, *walk);
      groups_.push_back({std::move(*walk), std::move(rings), none});
    }
  }

  std::vector<std::uint64_t> estimate() {
    estimating_ = true;
    add_steps();
    return live_bytes(lives());
  }

  std::uint64_t arena_bytes() {
    estimating_ = true;
    add_steps();
    return plan_arena(lives()).bytes;
  }

  StagePlan plan() {
    add_steps();
    place_in_arena();
    for (const WeightUse& weight : plan_.weights) {
      (weight.streamed ? plan_.streamed_bytes : plan_.weight_bytes) += weight.encoding.bytes;
    }
    for (ValueId id : program_.live_out) plan_.live_out.emplace(id, resolved(place_of_[id]));
    return std::move(plan_);
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Group {
    StripWalk walk;
    std::vector<std::int64_t> rings;
    std::uint32_t scratch_buffer;  ///< the steps take turns
  };

  /// The group that the node belongs to. Nodes are asked for in order.
  Group* group_of(std::uint32_t node) {
    while (next_group_ < groups_.size() && groups_[next_group_].walk.group().last <= node) {
      ++next_group_;
    }
    if (next_group_ == groups_.size()) return nullptr;
    Group& group = groups_[next_group_];
    return node >= group.walk.group().first ? &group : nullptr;
  }

  /// All nodes of a group run at the same time, as far as lives are concerned.
  std::int32_t time_of(std::uint32_t node) {
    const Group* group = group_of(node);
    return static_cast<std::int32_t>(group == nullptr ? node : group->walk.group().first);
  }

  void add_steps() {
    last_use_.assign(program_.values.size(), -1);
    const auto count = static_cast<std::uint32_t>(program_.nodes.size());
    for (std::uint32_t node = 0; node < count; ++node) {
      const std::int32_t time = time_of(node);
      for (ValueId id : program_.nodes[node].inputs) {
        if (id != no_value) last_use_[id] = time;
      }
    }
    for (ValueId id : program_.live_out) last_use_[id] = static_cast<std::int32_t>(count);
    next_group_ = 0;
    for (std::uint32_t node = 0; node < count; ++node) {
      Group* group = group_of(node);
      if (group != nullptr && group->walk.group().first == node && !estimating_) {
        const auto first = static_cast<std::uint32_t>(plan_.steps.size());
        plan_.groups.push_back(
            {first, first + group->walk.group().last - group->walk.group().first, group->walk});
      }
      add_step(node);
    }
  }

  Place external(ValueId id) {
    auto& externals = plan_.externals;
    const auto found = std::ranges::find(externals, id);
    const auto index = static_cast<std::uint32_t>(found - externals.begin());
    if (found == externals.end()) externals.push_back(id);
    return {.kind = Place::Kind::external, .index = index};
  }

  /// The number of the weight in the plan's list.
  std::uint32_t weight_number(ValueId id, const Encoding& encoding) {
    const WeightView& view = *program_.values[id].weight;
    for (std::size_t index = 0; index < plan_.weights.size(); ++index) {
      WeightUse& use = plan_.weights[index];
      if (use.view == view && use.encoding == encoding) {
        ++use.uses;
        return static_cast<std::uint32_t>(index);
      }
    }
    plan_.weights.push_back({id, view, encoding, 1, false});
    return static_cast<std::uint32_t>(plan_.weights.size() - 1);
  }

  Place weight(const ProgramNode& node, std::size_t input, const Encoding& encoding,
               std::int32_t time) {
    const ValueId id = node.inputs[input];
    const std::uint32_t number = weight_number(id, encoding);
    if (number >= options_.streamed.size() || !options_.streamed[number]) {
      return {.kind = Place::Kind::weight, .index = number};
    }
    plan_.weights[number].streamed = true;
    Place place{.kind = Place::Kind::streamed, .offset = buffers_.size(), .index = number};
    std::uint64_t bytes = encoding.bytes;
    // A group needs its weights in every round.
    const bool in_parts = input == 1 && node.kernel != nullptr && !in_group_ &&
                          encoding.kind == Encoding::Kind::panels;
    if (const std::int64_t columns = in_parts ? node.kernel->columns_in(options_.part_bytes) : 0;
        columns > 0 && columns < encoding.n) {
      place.part_columns = columns;
      bytes = column_encoding(encoding, columns).bytes;
    }
    buffers_.push_back({bytes, time, time, false});
    return place;
  }

  Place input_place(const ProgramNode& node, std::size_t index, std::int32_t time) {
    const ValueId id = node.inputs[index];
    if (id == no_value) return {};
    ProgramValue& value = program_.values[id];
    if (estimating_ && value.kind != ValueKind::activation &&
        (value.kind != ValueKind::weight || options_.streamed.empty())) {
      return {};
    }
    switch (value.kind) {
      case ValueKind::constant:
        return {.kind = Place::Kind::constant, .memory = value.constant->data()};
      case ValueKind::materialised:
        return {.kind = Place::Kind::constant, .memory = value.memory};
      case ValueKind::input:
        return external(id);
      case ValueKind::weight: {
        if (value.weight->stored->type == ElementType::undefined ||
            value.weight->stored->type == ElementType::string) {
          fail_unsupported(fmt::format("{}: tensor '{}' has an element type that is not supported",
                                       node.label(), value.name));
        }
        const Encoding encoding = node.kernel != nullptr
                                      ? node.kernel->encoding(index, *value.weight)
                                      : plain_encoding(value.type);
        // Small ones may have been read already, while shapes were worked out.
        if (encoding.kind == Encoding::Kind::plain && known_value(program_, id)) {
          return {.kind = Place::Kind::constant, .memory = program_.values[id].constant->data()};
        }
        return weight(node, index, encoding, time);
      }
      case ValueKind::activation:
        return place_of_[id];
      case ValueKind::absent:
        break;
    }
    fail_internal(fmt::format("{}: value '{}' has no place", node.label(), value.name));
  }

  /// The place of a value that lies in another, or that others lie in.
  Place shared_place(ValueId id, std::int32_t step, std::int32_t last) {
    std::uint64_t within = 0;
    ValueId root = id;
    for (auto found = part_of_.find(root); found != part_of_.end(); found = part_of_.find(root)) {
      within += found->second.offset;
      root = found->second.whole;
    }
    std::uint32_t& number = whole_of_[root];
    if (number == none) {
      buffers_.push_back({value_bytes(program_.values[root]), step, last, false});
      number = static_cast<std::uint32_t>(buffers_.size() - 1);
    }
    buffers_[number].last = std::max(buffers_[number].last, last);
    buffer_of_[id] = number;
    return {.kind = Place::Kind::arena, .offset = number, .within = within};
  }

  /// Whether the node is a Concat or Split of which every part lies in the whole.
  bool is_in_place(std::uint32_t number) const {
    if (options_.placed.empty()) return false;
    const ProgramNode& node = program_.nodes[number];
    if (node.kernel != nullptr) return false;
    const bool concat = node.definition->op_type == "Concat";
    if (!concat && node.definition->op_type != "Split") return false;
    std::uint64_t offset = 0;
    for (ValueId part : concat ? node.inputs : node.outputs) {
      // A value that is given twice lies in one of its places only.
      const auto found = part_of_.find(part);
      if (found == part_of_.end() || found->second.node != number ||
          found->second.offset != offset) {
        return false;
      }
      offset += value_bytes(program_.values[part]);
    }
    return true;
  }

  /// Whether a result may be computed over the value: nobody reads it later.
  bool may_share(ValueId id, std::int32_t step) const {
    const std::uint32_t buffer = buffer_of_[id];
    return program_.values[id].kind == ValueKind::activation && buffer != none &&
           buffers_[buffer].last <= step && !buffers_[buffer].external;
  }

  /// Whether a node computed in strips may overwrite that input: it is there whole, the node reads
  /// no other rows than it writes, and no other node of the group reads it.
  bool may_share_in_group(const Group& group, std::uint32_t number, int input) const {
    const ProgramNode& node = program_.nodes[number];
    const ValueId source = node.inputs[static_cast<std::size_t>(input)];
    if (place_of_[source].ring_rows != 0) return false;
    const RowRange all{0, program_.values[node.outputs[0]].type.shape[1]};
    if (input_rows(program_, node, static_cast<std::size_t>(input), all) != all) return false;
    for (std::uint32_t other = group.walk.group().first; other < group.walk.group().last; ++other) {
      if (other == number) continue;
      if (std::ranges::count(program_.nodes[other].inputs, source) != 0) return false;
    }
    return true;
  }

  void add_step(std::uint32_t step_number) {
    const ProgramNode& node = program_.nodes[step_number];
    Group* group = group_of(step_number);
    const std::int32_t step = time_of(step_number);
    in_group_ = group != nullptr;
    PlannedStep planned;
    planned.node = step_number;
    if (is_view(node)) {
      const ValueId from = node.inputs[0];
      const ValueId to = node.outputs[0];
      place_of_[to] = input_place(node, 0, step);
      buffer_of_[to] =
          program_.values[from].kind == ValueKind::activation ? buffer_of_[from] : none;
      if (buffer_of_[to] != none) {
        Buffer& buffer = buffers_[buffer_of_[to]];
        buffer.last = std::max(buffer.last, last_use_[to]);
      }
      return;  // nothing to run
    }
    for (std::size_t index = 0; index < node.inputs.size(); ++index) {
      planned.inputs.push_back(input_place(node, index, step));
    }
    if (is_in_place(step_number)) {
      // Its result, or its results, lie where its inputs do.
      for (ValueId id : node.outputs) {
        place_of_[id] = shared_place(id, step, std::max(last_use_[id], step));
      }
      return;
    }
    const int in_place =
        node.kernel != nullptr ? node.kernel->in_place_input() : node.op->in_place_input;
    for (std::size_t index = 0; index < node.outputs.size(); ++index) {
      const ValueId id = node.outputs[index];
      if (id == no_value) {
        planned.outputs.emplace_back();
        continue;
      }
      std::uint64_t bytes = value_bytes(program_.values[id]);
      planned.output_bytes += bytes;
      std::int64_t ring = 0;
      if (group != nullptr) {
        ring = group->rings[step_number - group->walk.group().first];
        const Shape& shape = program_.values[id].type.shape;
        if (ring != 0)
          bytes = bytes / static_cast<std::uint64_t>(shape[0] * shape[1]) *
                  static_cast<std::uint64_t>(ring);
      }
      const std::int32_t last = std::max(last_use_[id], step);
      const bool is_external =
          std::ranges::find(options_.external_outputs, id) != options_.external_outputs.end();
      if (is_external) {
        buffers_.push_back({bytes, step, last, true});
        buffer_of_[id] = static_cast<std::uint32_t>(buffers_.size() - 1);
        place_of_[id] = external(id);
        planned.outputs.push_back(place_of_[id]);
        continue;
      }
      if (part_of_.contains(id) || whole_of_.contains(id)) {
        place_of_[id] = shared_place(id, step, last);
        planned.outputs.push_back(place_of_[id]);
        continue;
      }
      if (index == 0 && in_place >= 0 && static_cast<std::size_t>(in_place) < node.inputs.size()) {
        const ValueId source = node.inputs[static_cast<std::size_t>(in_place)];
        if (source != no_value && may_share(source, step) &&
            (group == nullptr ||
             (ring == 0 && may_share_in_group(*group, step_number, in_place))) &&
            buffers_[buffer_of_[source]].bytes == bytes && bytes != 0 &&
            value_bytes(program_.values[source]) == bytes) {
          buffer_of_[id] = buffer_of_[source];
          buffers_[buffer_of_[id]].last = last;
          place_of_[id] = place_of_[source];
          planned.outputs.push_back(place_of_[id]);
          continue;
        }
      }
      buffers_.push_back({bytes, step, last, false});
      buffer_of_[id] = static_cast<std::uint32_t>(buffers_.size() - 1);
      // The buffer's number stands for its offset until the arena is laid out.
      place_of_[id] = {
          .kind = Place::Kind::arena, .offset = buffers_.size() - 1, .ring_rows = ring};
      planned.outputs.push_back(place_of_[id]);
    }
    if (node.kernel != nullptr) {
      planned.scratch_bytes = node.kernel->scratch_bytes(options_.threads);
    } else if (node.op->scratch != nullptr) {
      planned.scratch_bytes = node.op->scratch(PlannedContext(program_, node));
    }
    if (group != nullptr && group->scratch_buffer != none) {
      Buffer& shared = buffers_[group->scratch_buffer];
      shared.bytes = std::max(shared.bytes, planned.scratch_bytes);
      planned.scratch_offset = group->scratch_buffer;
    } else {
      buffers_.push_back({planned.scratch_bytes, step, step, false});
      planned.scratch_offset = buffers_.size() - 1;
      if (group != nullptr) group->scratch_buffer = static_cast<std::uint32_t>(buffers_.size() - 1);
    }
    plan_.steps.push_back(std::move(planned));
  }

  [[nodiscard]] std::vector<BufferLife> lives() const {
    std::vector<BufferLife> lives;
    lives.reserve(buffers_.size());
    for (const Buffer& buffer : buffers_) {
      lives.push_back({buffer.external ? 0 : buffer.bytes, buffer.first, buffer.last});
    }
    return lives;
  }

  void place_in_arena() {
    layout_ = plan_arena(lives());
    plan_.arena_bytes = layout_.bytes;
    plan_.arena_lower_bound = layout_.lower_bound;
    for (PlannedStep& step : plan_.steps) {
      for (Place& place : step.inputs) place = resolved(place);
      for (Place& place : step.outputs) place = resolved(place);
      step.scratch_offset = layout_.offsets[step.scratch_offset];
    }
  }

  [[nodiscard]] Place resolved(Place place) const {
    if (place.kind == Place::Kind::arena || place.kind == Place::Kind::streamed) {
      place.offset = layout_.offsets[place.offset] + place.within;
    }
    return place;
  }

  Program& program_;
  const StageOptions& options_;
  StagePlan plan_;
  std::vector<Buffer> buffers_;
  std::vector<std::uint32_t> buffer_of_;
  std::vector<Place> place_of_;
  std::vector<std::int32_t> last_use_;
  std::unordered_map<ValueId, PlacedPart> part_of_;
  std::unordered_map<ValueId, std::uint32_t> whole_of_;  ///< their buffers; `none`: not made yet
  std::vector<Group> groups_;
  std::size_t next_group_ = 0;
  bool in_group_ = false;    ///< the node at hand is computed in strips
  bool estimating_ = false;  ///< only lives are of interest
  ArenaLayout layout_;
};

}  // namespace

Encoding plain_encoding(const TensorType& type) {
  Encoding encoding;
  encoding.kind = Encoding::Kind::plain;
  encoding.element = type.element;
  encoding.bytes = checked_bytes(type.shape, element_size(type.element), "weight");
  return encoding;
}

std::vector<std::uint32_t> streaming_order(const StagePlan& plan) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t number = 0; number < plan.weights.size(); ++number) {
    // Smaller ones live on the heap, which does not give back what one of them leaves.
    if (plan.weights[number].encoding.bytes >= memory::smallest_block_bytes) {
      order.push_back(number);
    }
  }
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const WeightUse& first = plan.weights[a];
    const WeightUse& second = plan.weights[b];
    if (first.uses != second.uses) return first.uses < second.uses;
    return first.encoding.bytes > second.encoding.bytes;
  });
  return order;
}

std::vector<std::uint64_t> estimate_stage(Program& program, const StripFacts& facts,
                                          const StageOptions& options) {
  return StagePlanner(program, facts, options).estimate();
}

std::uint64_t stage_arena_bytes(Program& program, const StripFacts& facts,
                                const StageOptions& options) {
  return StagePlanner(program, facts, options).arena_bytes();
}

StagePlan plan_stage(Program& program, const StageOptions& options) {
  const StripFacts facts = options.strips.empty() ? StripFacts{} : strip_facts(program);
  return StagePlanner(program, facts, options).plan();
}

}  // namespace plimsoll::tensor
