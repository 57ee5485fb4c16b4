// Vectors of floating-point numbers where the machine differs from the standard: signs, minimum and
// maximum, and conversions that saturate.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

using Kind = ValueType::Kind;

bool Compiler::simd_float(Opcode opcode) {
  switch (opcode) {
    case Opcode::f32x4_abs:
    case Opcode::f64x2_abs:
    case Opcode::f32x4_neg:
    case Opcode::f64x2_neg: {
      const Register into = pop_changeable();
      const bool is_double = opcode == Opcode::f64x2_abs || opcode == Opcode::f64x2_neg;
      const std::uint64_t sign = is_double ? 0x8000000000000000 : 0x8000000080000000;
      if (opcode == Opcode::f32x4_neg || opcode == Opcode::f64x2_neg) {
        load_vector_constant(vector_scratch, sign, sign);
        as_.xorps(xmm(into), xmm(vector_scratch));
      } else {
        load_vector_constant(vector_scratch, ~sign, ~sign);
        as_.andps(xmm(into), xmm(vector_scratch));
      }
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::f32x4_min:
    case Opcode::f64x2_min:
      vector_minimum(opcode == Opcode::f64x2_min);
      return true;
    case Opcode::f32x4_max:
    case Opcode::f64x2_max:
      vector_maximum(opcode == Opcode::f64x2_max);
      return true;
    default:
      return false;
  }
}

/// The lanes that are no numbers become the canonical one: `lanes` holds NaNs of any payload, and
/// `mask` is overwritten with the result.
void Compiler::make_canonical(Register mask, Register lanes, bool is_double) {
  constexpr int unordered = 3;
  if (is_double) {
    as_.cmppd(xmm(mask), xmm(lanes), unordered);
    as_.orps(xmm(lanes), xmm(mask));
    as_.psrlq(xmm(mask), 13);  // leaves sign, exponent and the quiet bit of a lane alone
  } else {
    as_.cmpps(xmm(mask), xmm(lanes), unordered);
    as_.orps(xmm(lanes), xmm(mask));
    as_.psrld(xmm(mask), 10);
  }
  as_.andnps(xmm(mask), xmm(lanes));
}

/// The machine's minimum gives its second operand for NaNs and zeros of both signs: taken in both
/// orders and united, a NaN stays one and a negative zero negative.
void Compiler::vector_minimum(bool is_double) {
  const Register right = pop_read();
  const Register left = in_changeable_register(values_.pop());
  const Register into = values_.allocate(true);
  as_.movaps(xmm(into), xmm(right));
  if (is_double) {
    as_.minpd(xmm(into), xmm(left));
    as_.minpd(xmm(left), xmm(right));
  } else {
    as_.minps(xmm(into), xmm(left));
    as_.minps(xmm(left), xmm(right));
  }
  as_.orps(xmm(left), xmm(into));
  make_canonical(into, left, is_double);
  push_number(Kind::v128, into);
}

/// In both orders too; where they differ there were zeros or a NaN. Subtracting the difference of
/// the bits turns −0 united with +0 into +0, and keeps a NaN.
void Compiler::vector_maximum(bool is_double) {
  const Register right = pop_read();
  const Register left = in_changeable_register(values_.pop());
  const Register into = values_.allocate(true);
  as_.movaps(xmm(into), xmm(right));
  if (is_double) {
    as_.maxpd(xmm(into), xmm(left));
    as_.maxpd(xmm(left), xmm(right));
  } else {
    as_.maxps(xmm(into), xmm(left));
    as_.maxps(xmm(left), xmm(right));
  }
  as_.xorps(xmm(into), xmm(left));
  as_.orps(xmm(left), xmm(into));
  is_double ? as_.subpd(xmm(left), xmm(into)) : as_.subps(xmm(left), xmm(into));
  make_canonical(into, left, is_double);
  push_number(Kind::v128, into);
}

bool Compiler::simd_convert(Opcode opcode) {
  switch (opcode) {
    case Opcode::f32x4_convert_i32x4_u:
      convert_unsigned_lanes();
      return true;
    case Opcode::i32x4_trunc_sat_f32x4_s:
      truncate_lanes_signed();
      return true;
    case Opcode::i32x4_trunc_sat_f32x4_u:
      truncate_lanes_unsigned();
      return true;
    case Opcode::i32x4_trunc_sat_f64x2_s_zero: {
      const Register into = pop_changeable();
      const Register most = values_.allocate(true);
      // 2147483647.0, or zero where it is no number: the minimum takes the second operand then.
      as_.movaps(xmm(most), xmm(into));
      as_.cmppd(xmm(most), xmm(most), 0);
      load_vector_constant(vector_scratch, 0x41DFFFFFFFC00000, 0x41DFFFFFFFC00000);
      as_.andpd(xmm(most), xmm(vector_scratch));
      as_.minpd(xmm(into), xmm(most));
      as_.cvttpd2dq(xmm(into), xmm(into));
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::i32x4_trunc_sat_f64x2_u_zero: {
      const Register into = pop_changeable();
      const Register zero = values_.allocate(true);
      as_.xorps(xmm(zero), xmm(zero));
      as_.maxpd(xmm(into), xmm(zero));
      load_vector_constant(vector_scratch, 0x41EFFFFFFFE00000, 0x41EFFFFFFFE00000);
      as_.minpd(xmm(into), xmm(vector_scratch));  // 4294967295.0
      as_.roundpd(xmm(into), xmm(into), 11);
      // Above 2^52 the lowest bits of the mantissa are the integer.
      load_vector_constant(vector_scratch, 0x4330000000000000, 0x4330000000000000);
      as_.addpd(xmm(into), xmm(vector_scratch));
      as_.shufps(xmm(into), xmm(zero), 0x88);
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::f64x2_convert_low_i32x4_u: {
      const Register into = pop_changeable();
      load_vector_constant(vector_scratch, 0x4330000043300000, 0x4330000043300000);
      as_.unpcklps(xmm(into), xmm(vector_scratch));
      load_vector_constant(vector_scratch, 0x4330000000000000, 0x4330000000000000);
      as_.subpd(xmm(into), xmm(vector_scratch));
      push_number(Kind::v128, into);
      return true;
    }
    default:
      return false;
  }
}

/// The lower 16 bits apart, which convert exactly; the rest halved, so that it has no sign.
void Compiler::convert_unsigned_lanes() {
  const Register into = pop_changeable();
  const Register low = values_.allocate(true);
  as_.pxor(xmm(low), xmm(low));
  as_.pblendw(xmm(low), xmm(into), 0x55);
  as_.psubd(xmm(into), xmm(low));
  as_.cvtdq2ps(xmm(low), xmm(low));
  as_.psrld(xmm(into), 1);
  as_.cvtdq2ps(xmm(into), xmm(into));
  as_.addps(xmm(into), xmm(into));
  as_.addps(xmm(into), xmm(low));
  push_number(Kind::v128, into);
}

/// What does not fit converts to the least number; where the operand was positive all bits of that
/// are turned, which gives the greatest.
void Compiler::truncate_lanes_signed() {
  const Register into = pop_changeable();
  const Register sign = values_.allocate(true);
  as_.movaps(xmm(sign), xmm(into));
  as_.cmpps(xmm(sign), xmm(sign), 0);
  as_.andps(xmm(into), xmm(sign));  // NaN becomes zero
  as_.pxor(xmm(sign), xmm(into));   // highest bit: set where not negative
  as_.cvttps2dq(xmm(into), xmm(into));
  as_.pand(xmm(sign), xmm(into));
  as_.psrad(xmm(sign), 31);
  as_.pxor(xmm(into), xmm(sign));
  push_number(Kind::v128, into);
}

/// In two parts: up to 2^31 as signed numbers, and what lies above it.
void Compiler::truncate_lanes_unsigned() {
  const Register into = pop_changeable();
  const Register above = values_.allocate(true);
  const Register bound = values_.allocate(true);
  as_.pxor(xmm(bound), xmm(bound));
  as_.maxps(xmm(into), xmm(bound));
  load_vector_constant(bound, 0x4F0000004F000000, 0x4F0000004F000000);  // 2^31
  as_.movaps(xmm(above), xmm(into));
  as_.subps(xmm(above), xmm(bound));
  as_.cmpps(xmm(bound), xmm(above), 2);  // 2^31 more does not fit either
  as_.cvttps2dq(xmm(above), xmm(above));
  as_.pxor(xmm(above), xmm(bound));
  as_.pxor(xmm(bound), xmm(bound));
  as_.pmaxsd(xmm(above), xmm(bound));
  as_.cvttps2dq(xmm(into), xmm(into));
  as_.paddd(xmm(into), xmm(above));
  push_number(Kind::v128, into);
}

}  // namespace plimsoll::wasm::baseline
