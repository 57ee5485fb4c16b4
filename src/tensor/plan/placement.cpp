#include "tensor/plan/placement.h"

#include <algorithm>
#include <string>

#include "tensor/operators/shaping.h"

namespace plimsoll::tensor {
namespace {

/// What the arena aligns buffers to.
constexpr std::uint64_t part_alignment = 64;

std::uint64_t bytes_of(const ProgramValue& value) {
  return checked_bytes(value.type.shape, element_size(value.type.element), value.name.c_str());
}

class Finder {
 public:
  Finder(const Program& program, std::span<const ValueId> external,
         std::span<const StripGroup> strips)
      : program_(program), owns_(program.values.size(), false), placed_(program.values.size()) {
    for (std::uint32_t number = 0; number < program.nodes.size(); ++number) {
      const ProgramNode& node = program.nodes[number];
      if (is_view(node) || in_strips(strips, number)) continue;
      for (ValueId id : node.outputs) {
        if (id != no_value) owns_[id] = true;
      }
    }
    for (ValueId id : external) owns_[id] = false;
  }

  std::vector<PlacedPart> find(std::span<const StripGroup> strips) {
    for (std::uint32_t number = 0; number < program_.nodes.size(); ++number) {
      const ProgramNode& node = program_.nodes[number];
      if (node.kernel != nullptr || !node.definition->domain.empty()) continue;
      if (in_strips(strips, number)) continue;
      if (node.definition->op_type == "Concat") add(number, node.outputs[0], node.inputs);
      if (node.definition->op_type == "Split") add(number, node.inputs[0], node.outputs);
    }
    return std::move(parts_);
  }

 private:
  static bool in_strips(std::span<const StripGroup> strips, std::uint32_t node) {
    return std::ranges::any_of(
        strips, [&](const StripGroup& group) { return group.first <= node && node < group.last; });
  }

  [[nodiscard]] bool owns(ValueId id) const {
    return id != no_value && owns_[id] && program_.values[id].kind == ValueKind::activation &&
           program_.values[id].layout == Layout::row_major && !program_.values[id].dynamic;
  }

  void add(std::uint32_t number, ValueId whole, const std::vector<ValueId>& parts) {
    if (!owns(whole)) return;
    const Shape& shape = program_.values[whole].type.shape;
    const std::size_t axis = joining_axis(*program_.nodes[number].definition, shape.rank());
    if (shape.product(0, axis) != 1) return;
    std::uint64_t offset = 0;
    for (ValueId part : parts) {
      // An output that nobody wants does not say how large it is.
      if (part == no_value) return;
      if (owns(part) && !placed_[part] && offset % part_alignment == 0) {
        placed_[part] = true;
        parts_.push_back({part, whole, offset, number});
      }
      offset += bytes_of(program_.values[part]);
    }
  }

  const Program& program_;
  std::vector<bool> owns_;    ///< by value: its node writes memory of its own
  std::vector<bool> placed_;  ///< by value: it is a part already
  std::vector<PlacedPart> parts_;
};

}  // namespace

bool is_view(const ProgramNode& node) {
  if (node.kernel != nullptr || !node.definition->domain.empty()) return false;
  const std::string& op = node.definition->op_type;
  return op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" || op == "Flatten" ||
         op == "Identity";
}

std::vector<PlacedPart> possible_placements(const Program& program,
                                            std::span<const ValueId> external,
                                            std::span<const StripGroup> strips) {
  return Finder(program, external, strips).find(strips);
}

}  // namespace plimsoll::tensor
