#include "wasm/binary/type_table.h"

#include <fmt/format.h>

namespace plimsoll::wasm {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32U);
}

/// How a reference to a type looks from inside a group: members by their place in it, others by
/// their canonical index.
std::uint64_t seen_from(std::uint32_t index, std::uint32_t start, std::uint32_t members) noexcept {
  if (index == no_index) return no_index;
  if (index >= start && index - start < members) return (index - start) | std::uint64_t{1} << 40U;
  return index;
}

std::uint64_t seen_from(ValueType type, std::uint32_t start, std::uint32_t members) noexcept {
  if (!type.is_reference() || !type.heap().is_concrete()) return type.bits();
  return seen_from(type.heap().index(), start, members) << 8U | (type.bits() & 0xFFU);
}

std::string describe_list(std::span<const ValueType> types) {
  std::string text = "(";
  for (const ValueType type : types) {
    if (text.size() > 1) text += ' ';
    if (text.size() > 200) return text + "...)";
    text += to_string(type);
  }
  return text + ")";
}

bool is_abstract_subtype(HeapType::Abstract sub, HeapType::Abstract super) noexcept {
  if (sub == super || sub == HeapType::bottom) return true;
  switch (super) {
    case HeapType::any:
      return sub == HeapType::eq || sub == HeapType::i31 || sub == HeapType::structure ||
             sub == HeapType::array || sub == HeapType::none;
    case HeapType::eq:
      return sub == HeapType::i31 || sub == HeapType::structure || sub == HeapType::array ||
             sub == HeapType::none;
    case HeapType::i31:
    case HeapType::structure:
    case HeapType::array:
      return sub == HeapType::none;
    case HeapType::function:
      return sub == HeapType::no_function;
    case HeapType::external:
      return sub == HeapType::no_external;
    case HeapType::exception:
      return sub == HeapType::no_exception;
    default:
      return false;
  }
}

}  // namespace

TypeTable::TypeTable(const std::shared_ptr<memory::Budget>& budget)
    : types_(budget, "types of the module"),
      values_(budget, "parameters and results of types"),
      slots_(budget, "look-up of equal types") {}

std::string TypeTable::describe(std::uint32_t index) const {
  return fmt::format("{} -> {}", describe_list(parameters(index)), describe_list(results(index)));
}

std::uint32_t TypeTable::canonical_of(std::uint32_t index) const noexcept {
  // Inside a group that is still being read, a later member has no entry yet.
  return index < types_.size() ? types_[index].canonical : index;
}

bool TypeTable::is_concrete_subtype(std::uint32_t sub, std::uint32_t super) const noexcept {
  const std::uint32_t wanted = canonical_of(super);
  while (true) {
    if (canonical_of(sub) == wanted) return true;
    if (sub >= types_.size() || types_[sub].supertype == no_index) return false;
    sub = types_[sub].supertype;  // smaller, so this ends
  }
}

bool TypeTable::is_subtype(HeapType sub, HeapType super) const noexcept {
  if (sub == super) return true;
  if (!sub.is_concrete()) {
    if (super.is_concrete()) {
      return sub == HeapType::no_function || sub == HeapType::bottom;
    }
    return is_abstract_subtype(sub.abstract(), super.abstract());
  }
  if (super.is_concrete()) return is_concrete_subtype(sub.index(), super.index());
  return super == HeapType::function;
}

bool TypeTable::is_other_subtype(ValueType sub, ValueType super) const noexcept {
  if (sub.is_bottom()) return true;
  if (!sub.is_reference() || !super.is_reference()) return false;
  if (sub.is_nullable() && !super.is_nullable()) return false;
  return is_subtype(sub.heap(), super.heap());
}

bool TypeTable::are_subtypes(std::span<const ValueType> sub,
                             std::span<const ValueType> super) const noexcept {
  if (sub.size() != super.size()) return false;
  for (std::size_t index = 0; index < sub.size(); ++index) {
    if (!is_subtype(sub[index], super[index])) return false;
  }
  return true;
}

HeapType TypeTable::top_of(HeapType type) const noexcept {
  if (type.is_concrete()) return HeapType::function;
  switch (type.abstract()) {
    case HeapType::function:
    case HeapType::no_function:
      return HeapType::function;
    case HeapType::external:
    case HeapType::no_external:
      return HeapType::external;
    case HeapType::exception:
    case HeapType::no_exception:
      return HeapType::exception;
    default:
      return HeapType::any;
  }
}

void TypeTable::begin_group(std::uint32_t members) {
  group_start_ = size();
  group_members_ = members;
  group_first_value_ = values_.size();
}

void TypeTable::add_type(std::uint32_t parameters, std::uint32_t results, std::uint32_t supertype,
                         bool is_final) {
  FunctionType type;
  type.first_value = static_cast<std::uint32_t>(values_.size() - parameters - results);
  type.parameter_count = static_cast<std::uint16_t>(parameters);
  type.result_count = static_cast<std::uint16_t>(results);
  type.supertype = supertype == no_index ? no_index : types_[supertype].canonical;
  type.canonical = size();
  type.group_start = group_start_;
  if (supertype != no_index) type.depth = static_cast<std::uint8_t>(types_[supertype].depth + 1);
  type.is_final = is_final;
  types_.push_back(type);
}

bool TypeTable::matches_supertype(std::uint32_t index) const noexcept {
  const std::uint32_t supertype = types_[index].supertype;
  return are_subtypes(parameters(supertype), parameters(index)) &&
         are_subtypes(results(index), results(supertype));
}

std::uint32_t TypeTable::group_size(std::uint32_t start) const noexcept {
  std::uint32_t end = start + 1;
  while (end < size() && types_[end].group_start == start) ++end;
  return end - start;
}

std::uint64_t TypeTable::hash_group(std::uint32_t start, std::uint32_t members) const noexcept {
  std::uint64_t hash = members;
  for (std::uint32_t index = start; index < start + members; ++index) {
    const FunctionType& type = types_[index];
    hash = mix(hash, std::uint64_t{type.parameter_count} << 32U | type.result_count << 1U |
                         (type.is_final ? 1U : 0U));
    hash = mix(hash, seen_from(type.supertype, start, members));
    for (const ValueType value : parameters(index)) {
      hash = mix(hash, seen_from(value, start, members));
    }
    for (const ValueType value : results(index)) {
      hash = mix(hash, seen_from(value, start, members));
    }
  }
  return hash;
}

bool TypeTable::groups_equal(std::uint32_t one, std::uint32_t other,
                             std::uint32_t members) const noexcept {
  for (std::uint32_t member = 0; member < members; ++member) {
    const FunctionType& left = types_[one + member];
    const FunctionType& right = types_[other + member];
    if (left.parameter_count != right.parameter_count || left.result_count != right.result_count ||
        left.is_final != right.is_final ||
        seen_from(left.supertype, one, members) != seen_from(right.supertype, other, members)) {
      return false;
    }
    const std::size_t count = left.parameter_count + left.result_count;
    for (std::size_t value = 0; value < count; ++value) {
      if (seen_from(values_[left.first_value + value], one, members) !=
          seen_from(values_[right.first_value + value], other, members)) {
        return false;
      }
    }
  }
  return true;
}

void TypeTable::grow_slots() {
  const std::size_t wanted = slots_.empty() ? 16 : slots_.size() * 2;
  slots_.clear();
  slots_.resize(wanted);
  for (std::uint32_t start = 0; start < group_start_; ++start) {
    if (types_[start].group_start != start || types_[start].canonical != start) continue;
    std::size_t slot = hash_group(start, group_size(start)) & (wanted - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (wanted - 1);
    slots_[slot] = start + 1;
  }
}

void TypeTable::end_group() {
  if (group_members_ == 0) return;
  if ((groups_ + 1) * std::size_t{2} > slots_.size()) grow_slots();
  std::size_t slot = hash_group(group_start_, group_members_) & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::uint32_t earlier = slots_[slot] - 1;
    if (group_size(earlier) != group_members_ ||
        !groups_equal(earlier, group_start_, group_members_)) {
      continue;
    }
    // Equal: share the earlier group's values, which name its own members, and drop the copies.
    for (std::uint32_t member = 0; member < group_members_; ++member) {
      FunctionType& type = types_[group_start_ + member];
      const FunctionType& original = types_[earlier + member];
      type.canonical = original.canonical;
      type.first_value = original.first_value;
      type.supertype = original.supertype;
    }
    values_.truncate(group_first_value_);
    return;
  }
  slots_[slot] = group_start_ + 1;
  ++groups_;
}

void TypeTable::shrink_to_fit() {
  types_.shrink_to_fit();
  values_.shrink_to_fit();
  slots_.reset();
}

std::uint64_t TypeTable::claimed_bytes() const noexcept {
  return types_.claimed_bytes() + values_.claimed_bytes() + slots_.claimed_bytes();
}

}  // namespace plimsoll::wasm
