// Where control flows meet: what a label finds in registers is fixed by the first branch to it, and
// everybody else moves their values there.
#include <algorithm>

#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

Block& Compiler::push_block(const ControlFrame& frame, std::uint32_t parameters) {
  Block& block = blocks_.emplace_back();
  block.kind = frame.kind;
  block.label = as_.newLabel();
  block.base = values_.size() - parameters;
  const BlockType type = frame.type;
  const TypeTable& types = checker_->module().types;
  const auto results = type.results(types);
  block.results.assign(results.begin(), results.end());
  block.arity = static_cast<std::uint32_t>(
      frame.kind == ControlFrame::Kind::loop ? type.parameters(types).size() : results.size());
  return block;
}

/// Decides, from where things are now, what the label will find in registers.
void Compiler::fix_target(Block& target) {
  target.is_target = true;
  RegisterSet taken = 0;
  const auto keep = [&](std::uint32_t index) {
    const Slot& slot = values_[index];
    if (slot.place != Place::in_register || (taken & bit(slot.in)) != 0) return;
    taken |= bit(slot.in);
    target.in_register.push_back({index, slot.in});
  };
  for (std::uint32_t index = 0; index < values_.cached_locals(); ++index) keep(index);
  for (std::uint32_t index = std::min(values_.window(), target.base); index < target.base;
       ++index) {
    if (index >= values_.locals()) keep(index);
  }
  if (target.arity != 1) return;  // several: all in memory
  const Slot& carried = values_.top();
  Register in = carried.place == Place::in_register ? carried.in : no_register;
  if (in == no_register || (taken & bit(in)) != 0) {
    const RegisterSet all = carried.is_vector_class() ? vector_registers : number_registers;
    in = no_register;
    for (Register one = 0; one < 32 && in == no_register; ++one) {
      if ((all & bit(one) & ~taken) != 0) in = one;
    }
  }
  if (in != no_register) target.in_register.push_back({target.base, in});
}

/// With `emit_stores` the memory part is emitted; otherwise it is only found out whether there is
/// one. The register part is left in `moves`.
void Compiler::collect_merge(const Block& target, ParallelMoves& moves, bool emit_stores,
                             bool& has_stores) {
  const auto wanted = [&](std::uint32_t index) {
    for (const Block::InRegister& place : target.in_register) {
      if (place.slot == index) return place.in;
    }
    return no_register;
  };
  const auto keep = [&](std::uint32_t index) {
    const Slot& slot = values_[index];
    if (slot.place == Place::memory || (slot.place == Place::in_register && slot.is_clean)) return;
    if (wanted(index) != no_register) return;
    has_stores = true;
    if (emit_stores) values_.store(slot, slot.home);
  };
  for (std::uint32_t index = 0; index < values_.cached_locals(); ++index) keep(index);
  const std::uint32_t lowest = std::max(values_.window(), values_.locals());
  for (std::uint32_t index = lowest; index < target.base; ++index) keep(index);

  // What the branch carries moves down to the block's base. Rising order: nothing is overwritten
  // before it is read, since it never moves up.
  const std::uint32_t first = values_.size() - target.arity;
  std::uint32_t home = target.base == 0 ? 8 : values_[target.base - 1].home;
  for (std::uint32_t number = 0; number < target.arity; ++number) {
    const Slot& slot = values_[first + number];
    home += slot.size();
    if (wanted(target.base + number) != no_register) continue;
    if (slot.place == Place::memory && slot.home == home) continue;
    has_stores = true;
    if (emit_stores) values_.store(slot, home);
  }
  for (const Block::InRegister& place : target.in_register) {
    const std::uint32_t from =
        place.slot >= target.base ? first + (place.slot - target.base) : place.slot;
    moves.add(place.in, values_[from]);
  }
}

void Compiler::emit_merge(const Block& target) {
  ParallelMoves moves(as_, values_);
  bool has_stores = false;
  collect_merge(target, moves, true, has_stores);
  moves.emit();
}

bool Compiler::merge_is_empty(const Block& target) {
  ParallelMoves moves(as_, values_);
  bool has_stores = false;
  collect_merge(target, moves, false, has_stores);
  return !has_stores && moves.is_empty();
}

/// What holds at the label: the block's results on the stack, registers as fixed, all else in
/// memory.
void Compiler::take_target_state(const Block& target) {
  values_.forget_registers();
  values_.drop_to(target.base);
  for (const Block::InRegister& place : target.in_register) {
    if (place.slot >= target.base) continue;
    Slot slot = values_[place.slot];
    slot.place = Place::in_register;
    slot.in = place.in;
    slot.is_clean = false;
    values_.set_place(place.slot, slot);
  }
  for (std::uint32_t number = 0; number < target.results.size(); ++number) {
    Register in = no_register;
    for (const Block::InRegister& place : target.in_register) {
      if (place.slot == target.base + number) in = place.in;
    }
    if (in == no_register) {
      values_.push_memory(target.results[number].kind());
    } else {
      values_.push_register(target.results[number].kind(), in);
    }
  }
}

void Compiler::emit_branch(std::uint32_t depth) {
  if (depth + 1 == blocks_.size()) {
    emit_return();
    return;
  }
  Block& target = block_at(depth);
  if (!target.is_target) fix_target(target);
  emit_merge(target);
  as_.jmp(target.label);
}

void Compiler::save_state(Block& block) {
  const auto save = [&](std::uint32_t index) {
    if (values_[index].place != Place::memory) block.at_if.emplace_back(index, values_[index]);
  };
  for (std::uint32_t index = 0; index < values_.cached_locals(); ++index) save(index);
  for (std::uint32_t index = std::max(values_.window(), values_.locals()); index < block.base;
       ++index) {
    save(index);
  }
  // Parameters whole: the branch that comes first overwrites what is known of them.
  for (std::uint32_t index = block.base; index < values_.size(); ++index) {
    block.at_if.emplace_back(index, values_[index]);
  }
}

void Compiler::restore_state(const Block& block) {
  values_.forget_registers();
  values_.drop_to(block.base);
  for (const auto& [index, slot] : block.at_if) {
    if (index >= block.base) values_.push_memory(slot.kind);
    values_.set_place(index, slot);
  }
}

/// The state that every iteration begins with: nothing shared, nothing constant.
void Compiler::freeze_for_loop(Block& block) {
  RegisterSet taken = 0;
  const auto freeze = [&](std::uint32_t index) {
    const Slot slot = values_[index];
    if (slot.place == Place::memory) return;
    if (slot.place == Place::in_register && (taken & bit(slot.in)) == 0) {
      taken |= bit(slot.in);
      Slot dirty = slot;
      dirty.is_clean = false;
      values_.set_place(index, dirty);
      block.in_register.push_back({index, slot.in});
      return;
    }
    const Register in = values_.free_register(slot.is_vector_class(), taken);
    if (in == no_register) {
      values_.spill(index);
      return;
    }
    values_.load(in, slot);
    Slot moved = slot;
    moved.place = Place::in_register;
    moved.in = in;
    moved.is_clean = false;
    values_.set_place(index, moved);
    taken |= bit(in);
    block.in_register.push_back({index, in});
  };
  // Several parameters live in memory, as fix_target has it for results.
  if (block.arity > 1) {
    for (std::uint32_t index = block.base; index < values_.size(); ++index) values_.spill(index);
  }
  for (std::uint32_t index = 0; index < values_.cached_locals(); ++index) freeze(index);
  for (std::uint32_t index = std::max(values_.window(), values_.locals()); index < values_.size();
       ++index) {
    freeze(index);
  }
  block.is_target = true;
}

}  // namespace plimsoll::wasm::baseline
