#include "wasm/runtime/type_registry.h"

#include <memory>

namespace plimsoll::wasm {
namespace {

constexpr std::uint32_t inside_group = 0x80000000;

}  // namespace

std::vector<std::uint32_t> TypeRegistry::intern(const TypeTable& types) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::uint32_t> identities(types.size());
  for (std::uint32_t start = 0; start < types.size();) {
    std::uint32_t end = start + 1;
    while (end < types.size() && types[end].group_start == start) ++end;
    // Equal groups of one module name the first one's members: seen from there all are the same.
    const std::uint32_t first = types[start].canonical;
    const std::uint32_t members = end - start;
    const auto seen = [&](std::uint32_t index) {
      if (index == no_index) return no_index;
      if (index >= first && index - first < members) return inside_group | (index - first);
      return identities[index];
    };
    std::vector<std::uint32_t> structure;
    for (std::uint32_t member = start; member < end; ++member) {
      const FunctionType& type = types[member];
      structure.push_back(type.parameter_count);
      structure.push_back(type.result_count);
      structure.push_back(type.is_final ? 1 : 0);
      structure.push_back(seen(type.supertype));
      const auto add = [&](ValueType value) {
        structure.push_back(value.bits() & 0xFFU);
        if (!value.is_reference()) return;
        const HeapType heap = value.heap();
        structure.push_back(heap.is_concrete() ? seen(heap.index()) : heap.value());
      };
      for (const ValueType value : types.parameters(member)) add(value);
      for (const ValueType value : types.results(member)) add(value);
    }
    const auto [found, is_new] =
        groups_.try_emplace(std::move(structure), static_cast<std::uint32_t>(chains_.size()));
    for (std::uint32_t member = 0; member < members; ++member) {
      identities[start + member] = found->second + member;
    }
    if (is_new) {
      for (std::uint32_t member = start; member < end; ++member) {
        std::vector<std::uint32_t> chain;
        const std::uint32_t supertype = types[member].supertype;
        if (supertype != no_index) chain = *chains_[identities[supertype]];
        chain.push_back(identities[member]);
        chains_.push_back(std::make_shared<const std::vector<std::uint32_t>>(std::move(chain)));
      }
    }
    start = end;
  }
  return identities;
}

std::shared_ptr<const std::vector<std::uint32_t>> TypeRegistry::chain(
    std::uint32_t identity) const {
  const std::scoped_lock lock(mutex_);
  return chains_[identity];
}

ValueType TypeRegistry::shared(ValueType type, const std::vector<std::uint32_t>& identities) {
  if (!type.is_reference() || !type.heap().is_concrete()) return type;
  return ValueType::reference(HeapType::concrete(identities[type.heap().index()]),
                              type.is_nullable());
}

bool TypeRegistry::is_subtype(std::uint32_t sub, std::uint32_t super) const {
  const std::scoped_lock lock(mutex_);
  const std::size_t depth = chains_[super]->size() - 1;
  const auto& chain = *chains_[sub];
  return depth < chain.size() && chain[depth] == super;
}

bool TypeRegistry::is_subtype(ValueType sub, ValueType super) const {
  if (sub == super) return true;
  if (!sub.is_reference() || !super.is_reference()) return false;
  if (sub.is_nullable() && !super.is_nullable()) return false;
  if (sub.heap().is_concrete() && super.heap().is_concrete()) {
    return is_subtype(sub.heap().index(), super.heap().index());
  }
  // With an abstract type on one side no table of types is asked.
  return TypeTable(nullptr).is_subtype(sub.heap(), super.heap());
}

}  // namespace plimsoll::wasm
