// Locals, globals, constants, drop and select.
#include <cstring>

#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

Register Compiler::in_read_register(const Slot& slot) {
  if (slot.place == Place::in_register) return slot.in;
  const Register in = values_.allocate(slot.is_vector_class());
  values_.load(in, slot);
  return in;
}

Register Compiler::in_changeable_register(const Slot& slot) {
  if (slot.place == Place::in_register && values_.is_unused(slot.in)) return slot.in;
  const Register in = values_.allocate(slot.is_vector_class());
  values_.load(in, slot);
  return in;
}

Register Compiler::pop_read() {
  values_.settle_flags();
  return in_read_register(values_.pop());
}

Register Compiler::pop_changeable() {
  values_.settle_flags();
  return in_changeable_register(values_.pop());
}

void Compiler::drop(ValueType /*type*/) {
  values_.pop();
  values_.unpin();
}

void Compiler::select(ValueType type) {
  const Slot condition_slot = values_.pop();
  const Slot second = values_.pop();
  const Slot first = values_.pop();
  // Both in registers before the flags are set, so that nothing comes between.
  if (condition_slot.place != Place::flags) {
    const Register condition = in_read_register(condition_slot);
    const Register other = in_read_register(second);
    const Register chosen = in_changeable_register(first);
    as_.test(gp32(condition), gp32(condition));
    choose(chosen, other, x86::CondCode::kNE);
    push_number(type.kind(), chosen);
    return;
  }
  // Loads are moves and leave flags as they are; spills as well.
  const Register other = in_read_register(second);
  const Register chosen = in_changeable_register(first);
  choose(chosen, other, static_cast<x86::CondCode>(condition_slot.value));
  push_number(type.kind(), chosen);
}

/// Keeps `chosen` where the condition holds, and takes `other` where it does not.
void Compiler::choose(Register chosen, Register other, x86::CondCode condition) {
  if (!is_vector(chosen)) {
    as_.cmov(x86::negateCond(condition), gp64(chosen), gp64(other));
    return;
  }
  const asmjit::Label keep = as_.newLabel();
  as_.j(condition, keep);
  as_.movaps(xmm(chosen), xmm(other));
  as_.bind(keep);
}

void Compiler::local_get(std::uint32_t index, ValueType /*type*/) {
  values_.settle_flags();
  values_.push_copy(index);
  values_.unpin();
}

void Compiler::assign_local(std::uint32_t index, const Slot& value) {
  if (index >= values_.cached_locals()) {
    values_.store(value, values_[index].home);
    return;
  }
  Slot assigned = value;
  assigned.is_clean = false;
  if (assigned.place == Place::memory) {
    assigned.in = values_.allocate(assigned.is_vector_class());
    values_.load(assigned.in, value);
    assigned.place = Place::in_register;
  }
  values_.set_place(index, assigned);
}

void Compiler::local_set(std::uint32_t index, ValueType /*type*/) {
  values_.settle_flags();
  assign_local(index, values_.pop());
  values_.unpin();
}

void Compiler::local_tee(std::uint32_t index, ValueType type) {
  values_.settle_flags();
  Slot value = values_.pop();
  if (value.place == Place::memory) {
    const Register in = values_.allocate(value.is_vector_class());
    values_.load(in, value);
    value.place = Place::in_register;
    value.in = in;
  }
  assign_local(index, value);
  if (value.place == Place::constant) {
    values_.push_constant(type.kind(), value.value);
  } else {
    values_.push_register(type.kind(), value.in);
  }
  values_.unpin();
}

void Compiler::global_get(std::uint32_t index, ValueType type) {
  values_.settle_flags();
  as_.mov(gp64(scratch), context_field(offsetof(InstanceContext, globals)));
  as_.mov(gp64(scratch), x86::ptr(gp64(scratch), static_cast<std::int32_t>(index * 8)));
  Slot cell;
  cell.kind = type.kind();
  const Register in = values_.allocate(cell.is_vector_class());
  load_cell(in, x86::ptr(gp64(scratch)), type.kind());
  push_number(type.kind(), in);
}

void Compiler::global_set(std::uint32_t index, ValueType type) {
  const Register in = pop_read();
  as_.mov(gp64(scratch), context_field(offsetof(InstanceContext, globals)));
  as_.mov(gp64(scratch), x86::ptr(gp64(scratch), static_cast<std::int32_t>(index * 8)));
  store_cell(x86::ptr(gp64(scratch)), in, type.kind());
  values_.unpin();
}

void Compiler::load_cell(Register into, const x86::Mem& from, ValueType::Kind kind) {
  if (!is_vector(into)) {
    as_.mov(kind == ValueType::Kind::i32 ? gp32(into) : gp64(into), from);
  } else if (kind == ValueType::Kind::f32) {
    as_.movss(xmm(into), from);
  } else if (kind == ValueType::Kind::f64) {
    as_.movsd(xmm(into), from);
  } else {
    as_.movups(xmm(into), from);
  }
}

void Compiler::store_cell(const x86::Mem& into, Register from, ValueType::Kind kind) {
  if (!is_vector(from)) {
    as_.mov(into, kind == ValueType::Kind::i32 ? gp32(from) : gp64(from));
  } else if (kind == ValueType::Kind::f32) {
    as_.movss(into, xmm(from));
  } else if (kind == ValueType::Kind::f64) {
    as_.movsd(into, xmm(from));
  } else {
    as_.movups(into, xmm(from));
  }
}

void Compiler::i32_const(std::int32_t value) {
  values_.settle_flags();
  values_.push_constant(ValueType::Kind::i32, value);
}

void Compiler::i64_const(std::int64_t value) {
  values_.settle_flags();
  if (value == static_cast<std::int32_t>(value)) {
    values_.push_constant(ValueType::Kind::i64, static_cast<std::int32_t>(value));
    return;
  }
  const Register in = values_.allocate(false);
  as_.mov(gp64(in), value);
  push_number(ValueType::Kind::i64, in);
}

void Compiler::f32_const(std::uint32_t bits) {
  values_.settle_flags();
  if (bits == 0) {
    values_.push_constant(ValueType::Kind::f32, 0);
    return;
  }
  const Register in = values_.allocate(true);
  as_.mov(gp32(scratch), bits);
  as_.movd(xmm(in), gp32(scratch));
  push_number(ValueType::Kind::f32, in);
}

void Compiler::f64_const(std::uint64_t bits) {
  values_.settle_flags();
  if (bits == 0) {
    values_.push_constant(ValueType::Kind::f64, 0);
    return;
  }
  const Register in = values_.allocate(true);
  as_.mov(gp64(scratch), bits);
  as_.movq(xmm(in), gp64(scratch));
  push_number(ValueType::Kind::f64, in);
}

}  // namespace plimsoll::wasm::baseline
