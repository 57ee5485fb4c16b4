// Division: fixed registers, and the two ways in which the machine's differs from the standard's.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

void Compiler::divide(bool is_64, bool is_signed, bool is_remainder) {
  const Slot divisor_slot = values_.pop();
  const Slot dividend = values_.pop();
  // rax and rdx are taken by the instruction, so the divisor must be elsewhere. Everything is in
  // place before the first jump: what follows changes no state.
  Register divisor = divisor_slot.place == Place::in_register ? divisor_slot.in : no_register;
  if (divisor == no_register || divisor == rax || divisor == rdx) {
    values_.pin(rax);
    values_.pin(rdx);
    divisor = values_.allocate(false);
    values_.load(divisor, divisor_slot);
  }
  const bool dividend_in_rax = dividend.place == Place::in_register && dividend.in == rax;
  if (dividend.place == Place::in_register && dividend.in == rdx) {
    values_.claim(rax);
    values_.load(rax, dividend);
    values_.claim(rdx);
  } else {
    if (!(dividend_in_rax && values_.is_unused(rax))) {
      values_.claim(rax);  // what lives on in it moves away; the number itself stays
      if (!dividend_in_rax) values_.load(rax, dividend);
    }
    values_.claim(rdx);
  }
  const x86::Gp by = is_64 ? gp64(divisor) : gp32(divisor);
  as_.test(by, by);
  as_.jz(trap_label(TrapKind::integer_divide_by_zero));
  if (!is_signed) {
    as_.xor_(x86::edx, x86::edx);
    as_.div(by);
  } else {
    const asmjit::Label divides = as_.newLabel();
    const asmjit::Label done = as_.newLabel();
    as_.cmp(by, -1);
    as_.jne(divides);
    if (is_remainder) {
      as_.xor_(x86::edx, x86::edx);  // by −1 nothing is left, INT_MIN included
      as_.jmp(done);
    } else {
      const x86::Gp number = is_64 ? x86::rax : x86::eax.as<x86::Gp>();
      as_.neg(number);  // overflows for INT_MIN alone
      as_.jo(trap_label(TrapKind::integer_overflow));
      as_.jmp(done);
    }
    as_.bind(divides);
    if (is_64) {
      as_.cqo();
    } else {
      as_.cdq();
    }
    as_.idiv(by);
    as_.bind(done);
  }
  push_number(is_64 ? ValueType::Kind::i64 : ValueType::Kind::i32, is_remainder ? rdx : rax);
}

}  // namespace plimsoll::wasm::baseline
