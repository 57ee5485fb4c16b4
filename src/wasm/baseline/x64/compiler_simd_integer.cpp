// Integer vectors where the machine has no single instruction: shifts of bytes, widening, and a
// few.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

using Kind = ValueType::Kind;
namespace Inst = x86::Inst;

bool Compiler::simd_shift(Opcode opcode) {
  std::uint32_t instruction = 0;
  std::uint32_t bits = 16;
  switch (opcode) {
    case Opcode::i8x16_shl:
    case Opcode::i8x16_shr_s:
    case Opcode::i8x16_shr_u:
      shift_bytes(opcode);
      return true;
    case Opcode::i64x2_shr_s:
      shift_signed_64();
      return true;
    case Opcode::i16x8_shl:
      instruction = Inst::kIdPsllw;
      break;
    case Opcode::i16x8_shr_s:
      instruction = Inst::kIdPsraw;
      break;
    case Opcode::i16x8_shr_u:
      instruction = Inst::kIdPsrlw;
      break;
    case Opcode::i32x4_shl:
      instruction = Inst::kIdPslld;
      bits = 32;
      break;
    case Opcode::i32x4_shr_s:
      instruction = Inst::kIdPsrad;
      bits = 32;
      break;
    case Opcode::i32x4_shr_u:
      instruction = Inst::kIdPsrld;
      bits = 32;
      break;
    case Opcode::i64x2_shl:
      instruction = Inst::kIdPsllq;
      bits = 64;
      break;
    case Opcode::i64x2_shr_u:
      instruction = Inst::kIdPsrlq;
      bits = 64;
      break;
    default:
      return false;
  }
  const Slot count = values_.pop();
  const Register into = in_changeable_register(values_.pop());
  if (count.place == Place::constant) {
    as_.emit(instruction, xmm(into),
             asmjit::Imm(static_cast<std::uint32_t>(count.value) & (bits - 1)));
  } else {
    load_shift_count(count, bits, 0);
    as_.emit(instruction, xmm(into), xmm(vector_scratch));
  }
  push_number(Kind::v128, into);
  return true;
}

/// The count modulo the width, and a number more, in the vector scratch register.
void Compiler::load_shift_count(const Slot& count, std::uint32_t bits, std::uint32_t more) {
  values_.load(scratch, count);
  as_.and_(gp32(scratch), bits - 1);
  if (more != 0) as_.add(gp32(scratch), more);
  as_.movd(xmm(vector_scratch), gp32(scratch));
}

/// As halves of 16 bits, and packed again.
void Compiler::shift_bytes(Opcode opcode) {
  const Slot count = values_.pop();
  const Register into = in_changeable_register(values_.pop());
  const Register high = values_.allocate(true);
  const x86::Xmm low_half = xmm(into);
  const x86::Xmm high_half = xmm(high);
  if (opcode == Opcode::i8x16_shl) {
    // Bytes in the lower half; what leaves them is masked away.
    as_.pxor(xmm(vector_scratch), xmm(vector_scratch));
    as_.movaps(high_half, low_half);
    as_.punpckhbw(high_half, xmm(vector_scratch));
    as_.punpcklbw(low_half, xmm(vector_scratch));
    load_shift_count(count, 8, 0);
    as_.psllw(low_half, xmm(vector_scratch));
    as_.psllw(high_half, xmm(vector_scratch));
    load_vector_constant(vector_scratch, 0x00FF00FF00FF00FF, 0x00FF00FF00FF00FF);
    as_.pand(low_half, xmm(vector_scratch));
    as_.pand(high_half, xmm(vector_scratch));
    as_.packuswb(low_half, high_half);
  } else {
    // Bytes in the upper half, shifted out by eight more.
    as_.movaps(high_half, low_half);
    as_.punpckhbw(high_half, high_half);
    as_.punpcklbw(low_half, low_half);
    load_shift_count(count, 8, 8);
    if (opcode == Opcode::i8x16_shr_s) {
      as_.psraw(low_half, xmm(vector_scratch));
      as_.psraw(high_half, xmm(vector_scratch));
      as_.packsswb(low_half, high_half);
    } else {
      as_.psrlw(low_half, xmm(vector_scratch));
      as_.psrlw(high_half, xmm(vector_scratch));
      as_.packuswb(low_half, high_half);
    }
  }
  push_number(Kind::v128, into);
}

/// (x >>u n) with the place of the sign bit m: (y xor m) − m extends it.
void Compiler::shift_signed_64() {
  const Slot count = values_.pop();
  const Register into = in_changeable_register(values_.pop());
  const Register sign = values_.allocate(true);
  load_vector_constant(sign, std::uint64_t{1} << 63U, std::uint64_t{1} << 63U);
  load_shift_count(count, 64, 0);
  as_.psrlq(xmm(sign), xmm(vector_scratch));
  as_.psrlq(xmm(into), xmm(vector_scratch));
  as_.pxor(xmm(into), xmm(sign));
  as_.psubq(xmm(into), xmm(sign));
  push_number(Kind::v128, into);
}

bool Compiler::simd_integer(Opcode opcode) {
  const auto negate = [&](std::uint32_t subtract) {
    const Register from = pop_read();
    const Register into = values_.allocate(true);
    as_.pxor(xmm(into), xmm(into));
    as_.emit(subtract, xmm(into), xmm(from));
    push_number(Kind::v128, into);
  };
  switch (opcode) {
    case Opcode::i8x16_neg:
      negate(Inst::kIdPsubb);
      return true;
    case Opcode::i16x8_neg:
      negate(Inst::kIdPsubw);
      return true;
    case Opcode::i32x4_neg:
      negate(Inst::kIdPsubd);
      return true;
    case Opcode::i64x2_neg:
      negate(Inst::kIdPsubq);
      return true;
    case Opcode::v128_not: {
      const Register into = pop_changeable();
      as_.pcmpeqd(xmm(vector_scratch), xmm(vector_scratch));
      as_.pxor(xmm(into), xmm(vector_scratch));
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::v128_bitselect: {
      const Register mask = pop_read();
      const Register second = in_read_register(values_.pop());
      const Register into = in_changeable_register(values_.pop());
      as_.movaps(xmm(vector_scratch), xmm(mask));
      as_.pandn(xmm(vector_scratch), xmm(second));
      as_.pand(xmm(into), xmm(mask));
      as_.por(xmm(into), xmm(vector_scratch));
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::i64x2_abs: {
      const Register into = pop_changeable();
      as_.pshufd(xmm(vector_scratch), xmm(into), 0xF5);  // the upper half of each, twice
      as_.psrad(xmm(vector_scratch), 31);
      as_.pxor(xmm(into), xmm(vector_scratch));
      as_.psubq(xmm(into), xmm(vector_scratch));
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::i16x8_q15mulr_sat_s: {
      const Register right = pop_read();
      const Register into = in_changeable_register(values_.pop());
      as_.pmulhrsw(xmm(into), xmm(right));
      // −1 times −1 alone overflows, to the least number: it becomes the greatest.
      load_vector_constant(vector_scratch, 0x8000800080008000, 0x8000800080008000);
      as_.pcmpeqw(xmm(vector_scratch), xmm(into));
      as_.pxor(xmm(into), xmm(vector_scratch));
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::i64x2_mul:
      multiply_64();
      return true;
    case Opcode::i8x16_popcnt:
      count_bits_of_bytes();
      return true;
    default:
      return false;
  }
}

/// low × low + (low × high + high × low) << 32.
void Compiler::multiply_64() {
  const Register right = pop_read();
  const Register into = in_changeable_register(values_.pop());
  const Register cross = values_.allocate(true);
  as_.movaps(xmm(cross), xmm(into));
  as_.psrlq(xmm(cross), 32);
  as_.pmuludq(xmm(cross), xmm(right));
  as_.movaps(xmm(vector_scratch), xmm(right));
  as_.psrlq(xmm(vector_scratch), 32);
  as_.pmuludq(xmm(vector_scratch), xmm(into));
  as_.paddq(xmm(cross), xmm(vector_scratch));
  as_.psllq(xmm(cross), 32);
  as_.pmuludq(xmm(into), xmm(right));
  as_.paddq(xmm(into), xmm(cross));
  push_number(Kind::v128, into);
}

/// By a table of 16 entries, once for each half of a byte.
void Compiler::count_bits_of_bytes() {
  const Register from = pop_changeable();
  const Register into = values_.allocate(true);
  const Register counts = values_.allocate(true);
  const Register halves = values_.allocate(true);
  constexpr std::uint64_t low_halves = 0x0F0F0F0F0F0F0F0F;
  load_vector_constant(halves, low_halves, low_halves);
  load_vector_constant(counts, 0x0302020102010100, 0x0403030203020201);
  as_.movaps(xmm(vector_scratch), xmm(from));
  as_.pand(xmm(vector_scratch), xmm(halves));
  as_.movaps(xmm(into), xmm(counts));
  as_.pshufb(xmm(into), xmm(vector_scratch));
  as_.psrlw(xmm(from), 4);
  as_.pand(xmm(from), xmm(halves));
  as_.pshufb(xmm(counts), xmm(from));
  as_.paddb(xmm(into), xmm(counts));
  push_number(Kind::v128, into);
}

bool Compiler::simd_widen(Opcode opcode) {
  struct Widening {
    std::uint32_t extend = 0;
    std::uint32_t multiply = 0;  ///< 0: only extended
    bool is_high = false;
  };
  Widening how;
  switch (opcode) {
    case Opcode::i16x8_extend_high_i8x16_s:
      how = {Inst::kIdPmovsxbw, 0, true};
      break;
    case Opcode::i16x8_extend_high_i8x16_u:
      how = {Inst::kIdPmovzxbw, 0, true};
      break;
    case Opcode::i32x4_extend_high_i16x8_s:
      how = {Inst::kIdPmovsxwd, 0, true};
      break;
    case Opcode::i32x4_extend_high_i16x8_u:
      how = {Inst::kIdPmovzxwd, 0, true};
      break;
    case Opcode::i64x2_extend_high_i32x4_s:
      how = {Inst::kIdPmovsxdq, 0, true};
      break;
    case Opcode::i64x2_extend_high_i32x4_u:
      how = {Inst::kIdPmovzxdq, 0, true};
      break;
    case Opcode::i16x8_extmul_low_i8x16_s:
    case Opcode::i16x8_extmul_high_i8x16_s:
      how = {Inst::kIdPmovsxbw, Inst::kIdPmullw, opcode == Opcode::i16x8_extmul_high_i8x16_s};
      break;
    case Opcode::i16x8_extmul_low_i8x16_u:
    case Opcode::i16x8_extmul_high_i8x16_u:
      how = {Inst::kIdPmovzxbw, Inst::kIdPmullw, opcode == Opcode::i16x8_extmul_high_i8x16_u};
      break;
    case Opcode::i32x4_extmul_low_i16x8_s:
    case Opcode::i32x4_extmul_high_i16x8_s:
      how = {Inst::kIdPmovsxwd, Inst::kIdPmulld, opcode == Opcode::i32x4_extmul_high_i16x8_s};
      break;
    case Opcode::i32x4_extmul_low_i16x8_u:
    case Opcode::i32x4_extmul_high_i16x8_u:
      how = {Inst::kIdPmovzxwd, Inst::kIdPmulld, opcode == Opcode::i32x4_extmul_high_i16x8_u};
      break;
    case Opcode::i64x2_extmul_low_i32x4_s:
    case Opcode::i64x2_extmul_high_i32x4_s:
      how = {Inst::kIdPmovsxdq, Inst::kIdPmuldq, opcode == Opcode::i64x2_extmul_high_i32x4_s};
      break;
    case Opcode::i64x2_extmul_low_i32x4_u:
    case Opcode::i64x2_extmul_high_i32x4_u:
      how = {Inst::kIdPmovzxdq, Inst::kIdPmuludq, opcode == Opcode::i64x2_extmul_high_i32x4_u};
      break;
    default:
      return add_pairs(opcode);
  }
  const auto extend = [&](Register into, Register from) {
    if (how.is_high) {
      as_.pshufd(xmm(into), xmm(from), 0xEE);
      as_.emit(how.extend, xmm(into), xmm(into));
    } else {
      as_.emit(how.extend, xmm(into), xmm(from));
    }
  };
  const Register right = pop_read();
  const Register into = values_.allocate(true);
  if (how.multiply == 0) {
    extend(into, right);
  } else {
    const Register left = in_read_register(values_.pop());
    extend(into, left);
    extend(vector_scratch, right);
    as_.emit(how.multiply, xmm(into), xmm(vector_scratch));
  }
  push_number(Kind::v128, into);
  return true;
}

/// Neighbours are added by multiplying with ones.
bool Compiler::add_pairs(Opcode opcode) {
  constexpr std::uint64_t byte_ones = 0x0101010101010101;
  constexpr std::uint64_t word_ones = 0x0001000100010001;
  switch (opcode) {
    case Opcode::i16x8_extadd_pairwise_i8x16_s: {
      const Register from = pop_read();
      const Register into = values_.allocate(true);
      load_vector_constant(into, byte_ones, byte_ones);
      as_.pmaddubsw(xmm(into), xmm(from));
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::i16x8_extadd_pairwise_i8x16_u: {
      const Register into = pop_changeable();
      load_vector_constant(vector_scratch, byte_ones, byte_ones);
      as_.pmaddubsw(xmm(into), xmm(vector_scratch));
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::i32x4_extadd_pairwise_i16x8_s: {
      const Register into = pop_changeable();
      load_vector_constant(vector_scratch, word_ones, word_ones);
      as_.pmaddwd(xmm(into), xmm(vector_scratch));
      push_number(Kind::v128, into);
      return true;
    }
    case Opcode::i32x4_extadd_pairwise_i16x8_u: {
      // As signed numbers 2^15 lower each, which is made good afterwards.
      const Register into = pop_changeable();
      load_vector_constant(vector_scratch, 0x8000800080008000, 0x8000800080008000);
      as_.pxor(xmm(into), xmm(vector_scratch));
      load_vector_constant(vector_scratch, word_ones, word_ones);
      as_.pmaddwd(xmm(into), xmm(vector_scratch));
      load_vector_constant(vector_scratch, 0x0001000000010000, 0x0001000000010000);
      as_.paddd(xmm(into), xmm(vector_scratch));
      push_number(Kind::v128, into);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace plimsoll::wasm::baseline
