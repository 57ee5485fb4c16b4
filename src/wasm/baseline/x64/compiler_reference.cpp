// References: a number of 64 bits, 0 for null (runtime/reference.h).
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {
namespace {

using Kind = ValueType::Kind;

}  // namespace

void Compiler::ref_null(ValueType /*type*/) {
  values_.settle_flags();
  values_.push_constant(Kind::reference, 0);
}

void Compiler::ref_is_null() {
  const Register tested = pop_read();
  as_.test(gp64(tested), gp64(tested));
  values_.unpin();
  values_.push_flags(x86::CondCode::kE);
}

void Compiler::ref_func(std::uint32_t function) {
  values_.settle_flags();
  const Register into = values_.allocate(false);
  as_.mov(gp64(into), context_field(offsetof(InstanceContext, functions)));
  as_.mov(gp64(into), x86::ptr(gp64(into), static_cast<std::int32_t>(function * 8)));
  push_number(Kind::reference, into);
}

void Compiler::ref_eq() {
  const Register right = pop_read();
  const Register left = in_read_register(values_.pop());
  as_.cmp(gp64(left), gp64(right));
  values_.unpin();
  values_.push_flags(x86::CondCode::kE);
}

void Compiler::ref_as_non_null() {
  const Register in = pop_read();
  as_.test(gp64(in), gp64(in));
  as_.jz(trap_label(TrapKind::null_reference));
  push_number(Kind::reference, in);
}

void Compiler::br_on_null(std::uint32_t depth) {
  const Register in = pop_read();
  as_.test(gp64(in), gp64(in));
  branch_where(x86::CondCode::kE, depth);
  push_number(Kind::reference, in);
}

void Compiler::br_on_non_null(std::uint32_t depth) {
  const Register in = pop_read();
  push_number(Kind::reference, in);
  as_.test(gp64(in), gp64(in));
  branch_where(x86::CondCode::kNE, depth);
  values_.pop();
  values_.unpin();
}

/// Leaves in rax whether a reference is of a type.
void Compiler::emit_type_test(const Slot& reference, ValueType type) {
  Slot nullable;
  nullable.place = Place::constant;
  nullable.value = type.is_nullable() ? 1 : 0;
  const std::array<Slot, 2> values = {reference, nullable};
  call_runtime(offsetof(Builtins, reference_matches), type.heap().value(), values);
}

void Compiler::ref_test(ValueType type) {
  values_.settle_flags();
  emit_type_test(values_.pop(), type);
  push_number(Kind::i32, rax);
}

void Compiler::ref_cast(ValueType type) {
  values_.settle_flags();
  values_.spill(values_.size() - 1);
  const Slot reference = values_.top();
  emit_type_test(reference, type);
  as_.test(x86::eax, x86::eax);
  as_.jz(trap_label(TrapKind::cast_failure));
}

void Compiler::br_on_cast(std::uint32_t depth, ValueType to, bool on_success) {
  values_.settle_flags();
  values_.spill(values_.size() - 1);
  const Slot reference = values_.top();
  emit_type_test(reference, to);
  as_.test(x86::eax, x86::eax);
  branch_where(on_success ? x86::CondCode::kNE : x86::CondCode::kE, depth);
}

void Compiler::ref_i31() {
  const Register from = pop_read();
  const Register into = values_.allocate(false);
  as_.lea(gp32(into), x86::ptr(gp64(from), gp64(from), 0, 1));
  push_number(Kind::reference, into);
}

void Compiler::i31_get(bool is_signed) {
  const Register into = pop_changeable();
  as_.test(gp64(into), gp64(into));
  as_.jz(trap_label(TrapKind::null_i31_reference));
  if (is_signed) {
    as_.sar(gp32(into), 1);
  } else {
    as_.shr(gp32(into), 1);
  }
  push_number(Kind::i32, into);
}

/// A reference looks the same from both sides.
void Compiler::convert_reference(Opcode /*opcode*/) {}

}  // namespace plimsoll::wasm::baseline
