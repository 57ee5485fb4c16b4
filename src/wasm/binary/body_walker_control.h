// The walker's part for blocks, branches, calls, variables and constants. Why it exists: see
// body_walker.h, which includes this.
#pragma once

#include "wasm/binary/body_walker.h"

namespace plimsoll::wasm {

template <typename Visitor>
void BodyWalker<Visitor>::special(Opcode opcode) {
  const auto number = static_cast<std::uint32_t>(opcode);
  if (number >= page_bulk || (number >= 0x3F && number <= 0x40)) {
    memory_operation(opcode);
  } else if (number >= 0xD0) {
    reference(opcode);
  } else if (number >= 0x41) {
    constant(opcode);
  } else if (number >= 0x25) {
    table_operation(opcode);
  } else if (number >= 0x20) {
    variable(opcode);
  } else {
    special_control(opcode);
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::special_control(Opcode opcode) {
  switch (opcode) {
    case Opcode::unreachable:
      if (is_live()) visitor_.unreachable();
      set_unreachable();
      return;
    case Opcode::block:
    case Opcode::loop:
    case Opcode::if_:
      enter_block(opcode);
      return;
    case Opcode::try_table:
      enter_try_table();
      return;
    case Opcode::else_:
      meet_else();
      return;
    case Opcode::end:
      meet_end();
      return;
    case Opcode::br:
    case Opcode::br_if:
    case Opcode::return_:
      branch(opcode);
      return;
    case Opcode::br_table:
      branch_table();
      return;
    case Opcode::throw_:
    case Opcode::throw_ref:
      throw_exception(opcode);
      return;
    case Opcode::call:
    case Opcode::return_call:
      call(opcode == Opcode::return_call);
      return;
    case Opcode::call_indirect:
    case Opcode::return_call_indirect:
      call_indirect(opcode == Opcode::return_call_indirect);
      return;
    case Opcode::call_ref:
    case Opcode::return_call_ref:
      call_ref(opcode == Opcode::return_call_ref);
      return;
    case Opcode::drop:
    case Opcode::select:
    case Opcode::select_typed:
      drop_or_select(opcode);
      return;
    default:
      return;  // nop
  }
}

template <typename Visitor>
BlockType BodyWalker<Visitor>::read_block_type() {
  const std::uint64_t offset = reader_->offset();
  const std::uint8_t first = reader_->peek("a block type");
  if (first == 0x40) {
    (void)reader_->byte("a block type");
    return {};
  }
  // Negative as a number of 33 bits: a value type. Its codes fit one byte.
  if ((first & 0xC0U) == 0x40) {
    return {.type_index = no_index, .result = types_here().value_type("a block type")};
  }
  const std::int64_t index = reader_->s33("a block type");
  features_.require(Feature::multi_value, offset, "a block with a type index");
  if (index < 0 || index >= types_.size()) {
    fail_decode(offset, fmt::format("unknown type {}: there are {}", index, types_.size()));
  }
  return {.type_index = static_cast<std::uint32_t>(index), .result = {}};
}

template <typename Visitor>
void BodyWalker<Visitor>::enter_block(Opcode opcode) {
  const BlockType type = read_block_type();
  if (opcode == Opcode::if_) pop(i32_type);
  pop_all(type.parameters(types_));
  const bool live = is_live();
  if (opcode == Opcode::block) {
    enter(ControlFrame::Kind::block, type);
    if (live) visitor_.block(frame(0));
  } else if (opcode == Opcode::loop) {
    enter(ControlFrame::Kind::loop, type);
    if (live) visitor_.loop(frame(0));
  } else {
    enter(ControlFrame::Kind::if_, type);
    if (live) visitor_.if_(frame(0));
  }
}

template <typename Visitor>
CatchClause BodyWalker<Visitor>::read_catch_clause() {
  const std::uint64_t offset = reader_->offset();
  const std::uint8_t code = reader_->byte("a catch clause");
  if (code > 3) {
    fail_decode(offset, fmt::format("malformed catch clause {:#04x}: expected 0 to 3", code));
  }
  CatchClause clause;
  clause.kind = static_cast<CatchClause::Kind>(code);
  if (code < 2) clause.tag = reader_->u32("a tag index");
  clause.depth = reader_->u32("a label index");
  return clause;
}

template <typename Visitor>
void BodyWalker<Visitor>::check_catch_clause(const CatchClause& clause) {
  const ControlFrame target = label(clause.depth);
  stacks_.scratch.clear();
  if (clause.tag != no_index) {
    stacks_.scratch.append(types_.parameters(tag_type(clause.tag)));
  }
  if (clause.kind == CatchClause::Kind::one_ref || clause.kind == CatchClause::Kind::all_ref) {
    stacks_.scratch.push_back(ValueType::reference(HeapType::exception, false));
  }
  if (!types_.are_subtypes(stacks_.scratch.span(), target.label_types(types_))) {
    fail(fmt::format("type mismatch: what a catch clause gives is not what label {} takes",
                     clause.depth));
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::enter_try_table() {
  const BlockType type = read_block_type();
  const std::uint32_t count = reader_->count(limits::catch_clauses, "the number of catch clauses");
  stacks_.clauses.clear();
  for (std::uint32_t index = 0; index < count; ++index) {
    const CatchClause clause = read_catch_clause();
    check_catch_clause(clause);
    stacks_.clauses.push_back(clause);
  }
  pop_all(type.parameters(types_));
  const bool live = is_live();
  enter(ControlFrame::Kind::try_table, type);
  if (live) visitor_.try_table(frame(0), stacks_.clauses.span());
}

template <typename Visitor>
void BodyWalker<Visitor>::meet_else() {
  if (frame(0).kind != ControlFrame::Kind::if_) fail("END opcode expected: no `if` is open");
  const bool reaches_end = is_live();
  leave();
  if (frame(0).is_live) visitor_.else_(frame(0), reaches_end);
  enter_else();
}

template <typename Visitor>
void BodyWalker<Visitor>::meet_end() {
  const bool is_reached = is_live();
  leave();
  const ControlFrame closing = frame(0);
  if (closing.kind == ControlFrame::Kind::if_ &&
      !types_.are_subtypes(closing.type.parameters(types_), closing.type.results(types_))) {
    fail("type mismatch: an `if` without `else` must give what it takes");
  }
  if (closing.is_live) visitor_.end(frame(0), is_reached);
  pop_frame();
  if (frame_count() != 0) push_all(closing.type.results(types_));
}

template <typename Visitor>
void BodyWalker<Visitor>::branch(Opcode opcode) {
  const std::uint32_t depth =
      opcode == Opcode::return_ ? frame_count() - 1 : reader_->u32("a label index");
  const ControlFrame target = label(depth);
  if (opcode == Opcode::br_if) {
    pop(i32_type);
    retype_top(target.label_types(types_));
    if (is_live()) visitor_.br_if(depth);
    return;
  }
  pop_all(target.label_types(types_));
  if (is_live()) {
    if (opcode == Opcode::return_) {
      visitor_.return_();
    } else {
      visitor_.br(depth);
    }
  }
  set_unreachable();
}

template <typename Visitor>
void BodyWalker<Visitor>::branch_table() {
  const std::uint32_t count =
      reader_->count(limits::branch_targets, "the number of branch targets");
  stacks_.targets.clear();
  for (std::uint32_t index = 0; index <= count; ++index) {
    stacks_.targets.push_back(reader_->u32("a label index"));
  }
  pop(i32_type);
  ++br_tables_;
  const ControlFrame fallback = label(stacks_.targets.back());
  const std::size_t arity = fallback.label_types(types_).size();
  for (const std::uint32_t depth : stacks_.targets) {
    ControlFrame& target = label(depth);
    if (target.checked_by == br_tables_) continue;  // many targets, few labels
    target.checked_by = br_tables_;
    const ControlFrame copy = target;
    if (copy.label_types(types_).size() != arity) {
      fail(fmt::format("type mismatch: label {} takes {} values, the default label {}", depth,
                       copy.label_types(types_).size(), arity));
    }
    check_top(copy.label_types(types_));
  }
  pop_all(fallback.label_types(types_));
  if (is_live()) visitor_.br_table(stacks_.targets.span());
  set_unreachable();
}

template <typename Visitor>
void BodyWalker<Visitor>::throw_exception(Opcode opcode) {
  if (opcode == Opcode::throw_) {
    const std::uint32_t tag = reader_->u32("a tag index");
    pop_all(types_.parameters(tag_type(tag)));
    if (is_live()) visitor_.throw_(tag);
  } else {
    pop(exnref_type);
    if (is_live()) visitor_.throw_ref();
  }
  set_unreachable();
}

template <typename Visitor>
void BodyWalker<Visitor>::finish_call(std::uint32_t type, bool is_tail) {
  pop_all(types_.parameters(type));
  if (is_tail) {
    check_tail_results(type);
  } else {
    push_all(types_.results(type));
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::call(bool is_tail) {
  const std::uint32_t index = reader_->u32("a function index");
  finish_call(function(index).type, is_tail);
  if (is_live()) visitor_.call(index, is_tail);
  if (is_tail) set_unreachable();
}

template <typename Visitor>
void BodyWalker<Visitor>::call_indirect(bool is_tail) {
  const std::uint32_t type = types_here().type_index();
  const std::uint32_t index = read_table_index();
  const Table& callees = table(index);
  if (!types_.is_subtype(callees.type.element, funcref_type)) {
    fail(fmt::format("type mismatch: table {} holds {}, expected functions", index,
                     to_string(callees.type.element)));
  }
  pop(address_type(callees.type.limits));
  finish_call(type, is_tail);
  if (is_live()) visitor_.call_indirect(type, index, is_tail);
  if (is_tail) set_unreachable();
}

template <typename Visitor>
void BodyWalker<Visitor>::call_ref(bool is_tail) {
  const std::uint32_t type = types_here().type_index();
  pop(ValueType::reference(HeapType::concrete(types_[type].canonical), true));
  finish_call(type, is_tail);
  if (is_live()) visitor_.call_ref(type, is_tail);
  if (is_tail) set_unreachable();
}

template <typename Visitor>
void BodyWalker<Visitor>::variable(Opcode opcode) {
  const std::uint32_t index = reader_->u32("an index");
  switch (opcode) {
    case Opcode::local_get: {
      const ValueType type = local(index);
      require_initialized(index);
      push(type);
      if (is_live()) visitor_.local_get(index, type);
      return;
    }
    case Opcode::local_set:
    case Opcode::local_tee: {
      const ValueType type = local(index);
      pop(type);
      mark_initialized(index);
      if (opcode == Opcode::local_tee) {
        push(type);
        if (is_live()) visitor_.local_tee(index, type);
      } else if (is_live()) {
        visitor_.local_set(index, type);
      }
      return;
    }
    case Opcode::global_get: {
      const ValueType type = global(index).type.type;
      push(type);
      if (is_live()) visitor_.global_get(index, type);
      return;
    }
    default: {
      const GlobalType& type = global(index).type;
      if (!type.is_mutable) fail(fmt::format("global is immutable: {}", index));
      pop(type.type);
      if (is_live()) visitor_.global_set(index, type.type);
      return;
    }
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::constant(Opcode opcode) {
  switch (opcode) {
    case Opcode::i32_const: {
      const std::int32_t value = reader_->s32("an i32");
      push(i32_type);
      if (is_live()) visitor_.i32_const(value);
      return;
    }
    case Opcode::i64_const: {
      const std::int64_t value = reader_->s64("an i64");
      push(i64_type);
      if (is_live()) visitor_.i64_const(value);
      return;
    }
    case Opcode::f32_const: {
      const std::uint32_t bits = reader_->fixed_u32("an f32");
      push(f32_type);
      if (is_live()) visitor_.f32_const(bits);
      return;
    }
    default: {
      const std::uint64_t bits = reader_->fixed_u64("an f64");
      push(f64_type);
      if (is_live()) visitor_.f64_const(bits);
      return;
    }
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::drop_or_select(Opcode opcode) {
  if (opcode == Opcode::drop) {
    const ValueType type = pop();
    if (is_live()) visitor_.drop(type);
    return;
  }
  ValueType type;
  if (opcode == Opcode::select_typed) {
    const std::uint64_t offset = reader_->offset();
    const std::uint32_t count = reader_->u32("the number of types of a select");
    if (count != 1) {
      fail_decode(offset, fmt::format("invalid result arity {}: select gives one value", count));
    }
    type = types_here().value_type("the type of a select");
    pop(i32_type);
    pop(type);
    pop(type);
  } else {
    pop(i32_type);
    const ValueType second = pop();
    const ValueType first = pop();
    type = first.is_bottom() ? second : first;
    if (type.is_reference() || second.is_reference()) {
      fail("type mismatch: expected numbers or vectors; references need a select with a type");
    }
    if (!second.is_bottom() && second != type) fail_type(type, second);
  }
  push(type);
  if (is_live()) visitor_.select(type);
}

}  // namespace plimsoll::wasm
