// The walker's part for references, casts and the branches on them. Why it exists: see
// body_walker.h, which includes this.
#pragma once

#include "wasm/binary/body_walker.h"

namespace plimsoll::wasm {

namespace detail {

/// The same reference, known not to be null. Bottom becomes a reference to the bottom heap type.
inline ValueType as_non_null(ValueType type) noexcept {
  return ValueType::reference(type.is_bottom() ? HeapType(HeapType::bottom) : type.heap(), false);
}

}  // namespace detail

template <typename Visitor>
void BodyWalker<Visitor>::reference(Opcode opcode) {
  const ValueType eqref = ValueType::reference(HeapType::eq, true);
  switch (opcode) {
    case Opcode::ref_null: {
      const ValueType type = ValueType::reference(types_here().heap_type(), true);
      push(type);
      if (is_live()) visitor_.ref_null(type);
      return;
    }
    case Opcode::ref_is_null:
      pop_reference();
      push(i32_type);
      if (is_live()) visitor_.ref_is_null();
      return;
    case Opcode::ref_func:
      ref_func();
      return;
    case Opcode::ref_eq:
      pop(eqref);
      pop(eqref);
      push(i32_type);
      if (is_live()) visitor_.ref_eq();
      return;
    case Opcode::ref_as_non_null:
      push(detail::as_non_null(pop_reference()));
      if (is_live()) visitor_.ref_as_non_null();
      return;
    case Opcode::br_on_null:
    case Opcode::br_on_non_null:
      branch_on_null(opcode);
      return;
    case Opcode::br_on_cast:
    case Opcode::br_on_cast_fail:
      branch_on_cast(opcode);
      return;
    case Opcode::ref_i31:
      pop(i32_type);
      push(ValueType::reference(HeapType::i31, false));
      if (is_live()) visitor_.ref_i31();
      return;
    case Opcode::i31_get_s:
    case Opcode::i31_get_u:
      pop(ValueType::reference(HeapType::i31, true));
      push(i32_type);
      if (is_live()) visitor_.i31_get(opcode == Opcode::i31_get_s);
      return;
    case Opcode::any_convert_extern:
    case Opcode::extern_convert_any: {
      const bool to_any = opcode == Opcode::any_convert_extern;
      const HeapType from = to_any ? HeapType::external : HeapType::any;
      const HeapType to = to_any ? HeapType::any : HeapType::external;
      const ValueType found = pop(ValueType::reference(from, true));
      push(ValueType::reference(to, found.is_nullable()));
      if (is_live()) visitor_.convert_reference(opcode);
      return;
    }
    default:
      cast(opcode);
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::ref_func() {
  const std::uint32_t index = reader_->u32("a function index");
  const std::uint32_t type = function(index).type;
  if (!module_.is_declared(index)) {
    fail(
        fmt::format("undeclared function reference {}: it must be exported or in an element "
                    "segment",
                    index));
  }
  push(features_.allowed.has(Feature::function_references)
           ? ValueType::reference(HeapType::concrete(types_[type].canonical), false)
           : funcref_type);
  if (is_live()) visitor_.ref_func(index);
}

template <typename Visitor>
void BodyWalker<Visitor>::cast(Opcode opcode) {
  const bool nullable = opcode == Opcode::ref_test_null || opcode == Opcode::ref_cast_null;
  const ValueType type = ValueType::reference(types_here().heap_type(), nullable);
  pop(ValueType::reference(types_.top_of(type.heap()), true));
  if (opcode == Opcode::ref_test || opcode == Opcode::ref_test_null) {
    push(i32_type);
    if (is_live()) visitor_.ref_test(type);
  } else {
    push(type);
    if (is_live()) visitor_.ref_cast(type);
  }
}

template <typename Visitor>
void BodyWalker<Visitor>::branch_on_null(Opcode opcode) {
  const std::uint32_t depth = reader_->u32("a label index");
  const ControlFrame target = label(depth);
  const std::span<const ValueType> taken = target.label_types(types_);
  const ValueType tested = pop_reference();
  const ValueType non_null = detail::as_non_null(tested);
  if (opcode == Opcode::br_on_null) {
    retype_top(taken);
    push(non_null);
    if (is_live()) visitor_.br_on_null(depth);
    return;
  }
  if (taken.empty() || !types_.is_subtype(non_null, taken.back())) {
    fail(fmt::format("type mismatch: label {} does not take {} last", depth, to_string(non_null)));
  }
  retype_top(taken.first(taken.size() - 1));
  if (is_live()) visitor_.br_on_non_null(depth);
}

template <typename Visitor>
void BodyWalker<Visitor>::branch_on_cast(Opcode opcode) {
  const std::uint64_t flags_offset = reader_->offset();
  const std::uint8_t flags = reader_->byte("the flags of a cast");
  if (flags > 3) {
    fail_decode(flags_offset,
                fmt::format("malformed br_on_cast flags {:#04x}: expected 0 to 3", flags));
  }
  const std::uint32_t depth = reader_->u32("a label index");
  const ValueType from = ValueType::reference(types_here().heap_type(), (flags & 1U) != 0);
  const ValueType to = ValueType::reference(types_here().heap_type(), (flags & 2U) != 0);
  if (!types_.is_subtype(to, from)) {
    fail(fmt::format("type mismatch: {} is no subtype of {}", to_string(to), to_string(from)));
  }
  const ControlFrame target = label(depth);
  const std::span<const ValueType> taken = target.label_types(types_);
  // What is left when the cast fails: a null that `to` would have taken is no longer possible.
  const ValueType rest = ValueType::reference(from.heap(), from.is_nullable() && !to.is_nullable());
  const bool on_success = opcode == Opcode::br_on_cast;
  const ValueType carried = on_success ? to : rest;
  if (taken.empty() || !types_.is_subtype(carried, taken.back())) {
    fail(fmt::format("type mismatch: label {} does not take {} last", depth, to_string(carried)));
  }
  pop(from);
  retype_top(taken.first(taken.size() - 1));
  push(on_success ? rest : to);
  if (is_live()) visitor_.br_on_cast(depth, to, on_success);
}

}  // namespace plimsoll::wasm
