// Vector arithmetic: dispatch, and what is one instruction of the machine. SSE4.2 forms throughout.
#include "wasm/baseline/x64/compiler.h"
#include "wasm/baseline/x64/simd_instructions.h"

namespace plimsoll::wasm::baseline {

using Kind = ValueType::Kind;

void Compiler::emit_simd(const SimdInstruction& instruction, Register into, Register from) {
  if (instruction.immediate < 0) {
    as_.emit(instruction.id, xmm(into), xmm(from));
  } else {
    as_.emit(instruction.id, xmm(into), xmm(from), asmjit::Imm(instruction.immediate));
  }
}

void Compiler::load_vector_constant(Register into, std::uint64_t low, std::uint64_t high) {
  if (low == 0 && high == 0) {
    as_.pxor(xmm(into), xmm(into));
    return;
  }
  if (low == UINT64_MAX && high == UINT64_MAX) {
    as_.pcmpeqd(xmm(into), xmm(into));
    return;
  }
  as_.mov(gp64(scratch), low);
  as_.movq(xmm(into), gp64(scratch));
  if (high == low) {
    as_.punpcklqdq(xmm(into), xmm(into));
  } else if (high != 0) {
    as_.mov(gp64(scratch), high);
    as_.pinsrq(xmm(into), gp64(scratch), 1);
  }
}

void Compiler::simd(Opcode opcode) {
  const OpcodeInfo& info = opcode_table[static_cast<std::uint32_t>(opcode)];
  if (info.operand_count == 2 && info.operands[1] == static_cast<std::uint8_t>(Kind::v128)) {
    if (const SimdInstruction one = simd_binary(opcode); one.id != 0) {
      Slot right = values_.pop();
      Slot left = values_.pop();
      if (one.is_swapped) std::swap(left, right);
      const Register from = in_read_register(right);
      const Register into = in_changeable_register(left);
      emit_simd(one, into, from);
      push_number(Kind::v128, into);
      return;
    }
  } else if (info.operand_count == 1) {
    if (const SimdInstruction one = simd_unary(opcode); one.id != 0) {
      const Register from = pop_read();
      const Register into = values_.allocate(true);
      emit_simd(one, into, from);
      push_number(Kind::v128, into);
      return;
    }
  }
  if (simd_test(opcode) || simd_splat(opcode) || simd_shift(opcode) || simd_compare(opcode) ||
      simd_integer(opcode) || simd_widen(opcode) || simd_float(opcode) || simd_convert(opcode) ||
      simd_relaxed(opcode)) {
    return;
  }
  not_implemented(opcode_name(opcode));
}

/// What gives an i32: any_true, all_true, bitmask.
bool Compiler::simd_test(Opcode opcode) {
  const auto all_true = [&](std::uint32_t equal) {
    const Register tested = pop_read();
    as_.pxor(xmm(vector_scratch), xmm(vector_scratch));
    as_.emit(equal, xmm(vector_scratch), xmm(tested));
    as_.ptest(xmm(vector_scratch), xmm(vector_scratch));
    values_.unpin();
    values_.push_flags(x86::CondCode::kE);
  };
  switch (opcode) {
    case Opcode::v128_any_true: {
      const Register tested = pop_read();
      as_.ptest(xmm(tested), xmm(tested));
      values_.unpin();
      values_.push_flags(x86::CondCode::kNE);
      return true;
    }
    case Opcode::i8x16_all_true:
      all_true(x86::Inst::kIdPcmpeqb);
      return true;
    case Opcode::i16x8_all_true:
      all_true(x86::Inst::kIdPcmpeqw);
      return true;
    case Opcode::i32x4_all_true:
      all_true(x86::Inst::kIdPcmpeqd);
      return true;
    case Opcode::i64x2_all_true:
      all_true(x86::Inst::kIdPcmpeqq);
      return true;
    case Opcode::i8x16_bitmask:
    case Opcode::i16x8_bitmask:
    case Opcode::i32x4_bitmask:
    case Opcode::i64x2_bitmask:
      break;
    default:
      return false;
  }
  const Register from = pop_read();
  const Register into = values_.allocate(false);
  if (opcode == Opcode::i8x16_bitmask) {
    as_.pmovmskb(gp32(into), xmm(from));
  } else if (opcode == Opcode::i32x4_bitmask) {
    as_.movmskps(gp32(into), xmm(from));
  } else if (opcode == Opcode::i64x2_bitmask) {
    as_.movmskpd(gp32(into), xmm(from));
  } else {
    as_.movaps(xmm(vector_scratch), xmm(from));
    as_.packsswb(xmm(vector_scratch), xmm(vector_scratch));
    as_.pmovmskb(gp32(into), xmm(vector_scratch));
    as_.movzx(gp32(into), x86::gpb(into));
  }
  push_number(Kind::i32, into);
  return true;
}

/// Comparisons that are not one instruction: by the opposite, or by a minimum.
bool Compiler::simd_compare(Opcode opcode) {
  namespace Inst = x86::Inst;
  struct Composed {
    std::uint32_t first = 0;   ///< minimum or maximum, or 0
    std::uint32_t second = 0;  ///< then compared with the left operand
    bool is_swapped = false;
    bool is_negated = false;
  };
  Composed how;
  switch (opcode) {
    case Opcode::i8x16_ne:
      how = {.second = Inst::kIdPcmpeqb, .is_negated = true};
      break;
    case Opcode::i16x8_ne:
      how = {.second = Inst::kIdPcmpeqw, .is_negated = true};
      break;
    case Opcode::i32x4_ne:
      how = {.second = Inst::kIdPcmpeqd, .is_negated = true};
      break;
    case Opcode::i64x2_ne:
      how = {.second = Inst::kIdPcmpeqq, .is_negated = true};
      break;
    case Opcode::i8x16_le_s:
    case Opcode::i8x16_ge_s:
      how = {.second = Inst::kIdPcmpgtb,
             .is_swapped = opcode == Opcode::i8x16_ge_s,
             .is_negated = true};
      break;
    case Opcode::i16x8_le_s:
    case Opcode::i16x8_ge_s:
      how = {.second = Inst::kIdPcmpgtw,
             .is_swapped = opcode == Opcode::i16x8_ge_s,
             .is_negated = true};
      break;
    case Opcode::i32x4_le_s:
    case Opcode::i32x4_ge_s:
      how = {.second = Inst::kIdPcmpgtd,
             .is_swapped = opcode == Opcode::i32x4_ge_s,
             .is_negated = true};
      break;
    case Opcode::i64x2_le_s:
    case Opcode::i64x2_ge_s:
      how = {.second = Inst::kIdPcmpgtq,
             .is_swapped = opcode == Opcode::i64x2_ge_s,
             .is_negated = true};
      break;
    case Opcode::i8x16_le_u:
    case Opcode::i8x16_gt_u:
      how = {.first = Inst::kIdPminub,
             .second = Inst::kIdPcmpeqb,
             .is_negated = opcode == Opcode::i8x16_gt_u};
      break;
    case Opcode::i8x16_ge_u:
    case Opcode::i8x16_lt_u:
      how = {.first = Inst::kIdPmaxub,
             .second = Inst::kIdPcmpeqb,
             .is_negated = opcode == Opcode::i8x16_lt_u};
      break;
    case Opcode::i16x8_le_u:
    case Opcode::i16x8_gt_u:
      how = {.first = Inst::kIdPminuw,
             .second = Inst::kIdPcmpeqw,
             .is_negated = opcode == Opcode::i16x8_gt_u};
      break;
    case Opcode::i16x8_ge_u:
    case Opcode::i16x8_lt_u:
      how = {.first = Inst::kIdPmaxuw,
             .second = Inst::kIdPcmpeqw,
             .is_negated = opcode == Opcode::i16x8_lt_u};
      break;
    case Opcode::i32x4_le_u:
    case Opcode::i32x4_gt_u:
      how = {.first = Inst::kIdPminud,
             .second = Inst::kIdPcmpeqd,
             .is_negated = opcode == Opcode::i32x4_gt_u};
      break;
    case Opcode::i32x4_ge_u:
    case Opcode::i32x4_lt_u:
      how = {.first = Inst::kIdPmaxud,
             .second = Inst::kIdPcmpeqd,
             .is_negated = opcode == Opcode::i32x4_lt_u};
      break;
    default:
      return false;
  }
  Register right = pop_read();
  Register left = in_read_register(values_.pop());
  if (how.is_swapped) std::swap(left, right);
  const Register into = values_.allocate(true);
  as_.movaps(xmm(into), xmm(left));
  if (how.first != 0) {
    as_.emit(how.first, xmm(into), xmm(right));
    as_.emit(how.second, xmm(into), xmm(left));
  } else {
    as_.emit(how.second, xmm(into), xmm(right));
  }
  if (how.is_negated) {
    as_.pcmpeqd(xmm(vector_scratch), xmm(vector_scratch));
    as_.pxor(xmm(into), xmm(vector_scratch));
  }
  push_number(Kind::v128, into);
  return true;
}

/// The relaxed instructions give what their exact counterparts give.
bool Compiler::simd_relaxed(Opcode opcode) {
  switch (opcode) {
    case Opcode::i8x16_relaxed_swizzle:
      return simd_splat(Opcode::i8x16_swizzle);
    case Opcode::i32x4_relaxed_trunc_f32x4_s:
      return simd_convert(Opcode::i32x4_trunc_sat_f32x4_s);
    case Opcode::i32x4_relaxed_trunc_f32x4_u:
      return simd_convert(Opcode::i32x4_trunc_sat_f32x4_u);
    case Opcode::i32x4_relaxed_trunc_f64x2_s_zero:
      return simd_convert(Opcode::i32x4_trunc_sat_f64x2_s_zero);
    case Opcode::i32x4_relaxed_trunc_f64x2_u_zero:
      return simd_convert(Opcode::i32x4_trunc_sat_f64x2_u_zero);
    case Opcode::f32x4_relaxed_min:
      return simd_float(Opcode::f32x4_min);
    case Opcode::f32x4_relaxed_max:
      return simd_float(Opcode::f32x4_max);
    case Opcode::f64x2_relaxed_min:
      return simd_float(Opcode::f64x2_min);
    case Opcode::f64x2_relaxed_max:
      return simd_float(Opcode::f64x2_max);
    case Opcode::i16x8_relaxed_q15mulr_s:
      return simd_integer(Opcode::i16x8_q15mulr_sat_s);
    case Opcode::i8x16_relaxed_laneselect:
    case Opcode::i16x8_relaxed_laneselect:
    case Opcode::i32x4_relaxed_laneselect:
    case Opcode::i64x2_relaxed_laneselect:
      return simd_integer(Opcode::v128_bitselect);
    case Opcode::f32x4_relaxed_madd:
    case Opcode::f32x4_relaxed_nmadd:
    case Opcode::f64x2_relaxed_madd:
    case Opcode::f64x2_relaxed_nmadd:
    case Opcode::i32x4_relaxed_dot_i8x16_i7x16_add_s:
      break;
    default:
      return false;
  }
  const Slot third = values_.pop();
  const Register second = in_read_register(values_.pop());
  const Slot first_slot = values_.pop();
  const Register addend = in_read_register(third);
  const Register into = values_.allocate(true);
  const Register first = in_read_register(first_slot);
  const bool is_double =
      opcode == Opcode::f64x2_relaxed_madd || opcode == Opcode::f64x2_relaxed_nmadd;
  if (opcode == Opcode::i32x4_relaxed_dot_i8x16_i7x16_add_s) {
    as_.movaps(xmm(into), xmm(second));
    as_.pmaddubsw(xmm(into), xmm(first));
    load_vector_constant(vector_scratch, 0x0001000100010001, 0x0001000100010001);
    as_.pmaddwd(xmm(into), xmm(vector_scratch));
    as_.paddd(xmm(into), xmm(addend));
  } else {
    as_.movaps(xmm(vector_scratch), xmm(first));
    as_.movaps(xmm(into), xmm(addend));
    const bool is_negated =
        opcode == Opcode::f32x4_relaxed_nmadd || opcode == Opcode::f64x2_relaxed_nmadd;
    if (is_double) {
      as_.mulpd(xmm(vector_scratch), xmm(second));
      is_negated ? as_.subpd(xmm(into), xmm(vector_scratch))
                 : as_.addpd(xmm(into), xmm(vector_scratch));
    } else {
      as_.mulps(xmm(vector_scratch), xmm(second));
      is_negated ? as_.subps(xmm(into), xmm(vector_scratch))
                 : as_.addps(xmm(into), xmm(vector_scratch));
    }
  }
  push_number(Kind::v128, into);
  return true;
}

}  // namespace plimsoll::wasm::baseline
