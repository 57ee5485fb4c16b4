// Floating-point arithmetic and comparisons. Conversions: compiler_conversion.cpp.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {
namespace {

using Kind = ValueType::Kind;

constexpr std::uint32_t number_of(Opcode opcode) {
  return static_cast<std::uint32_t>(opcode);
}
constexpr bool is_between(Opcode opcode, Opcode first, Opcode last) {
  return number_of(opcode) >= number_of(first) && number_of(opcode) <= number_of(last);
}

/// The f32 operator that does the same as one of f64, by the order of the opcodes.
constexpr Opcode narrow_comparison(Opcode opcode, bool is_double) {
  return static_cast<Opcode>(
      number_of(opcode) - (is_double ? number_of(Opcode::f64_eq) - number_of(Opcode::f32_eq) : 0));
}
constexpr Opcode narrow_arithmetic(Opcode opcode, bool is_double) {
  return static_cast<Opcode>(
      number_of(opcode) -
      (is_double ? number_of(Opcode::f64_abs) - number_of(Opcode::f32_abs) : 0));
}

}  // namespace

void Compiler::float_plain(Opcode opcode) {
  if (is_between(opcode, Opcode::f32_eq, Opcode::f64_ge)) {
    float_compare(opcode);
  } else if (is_between(opcode, Opcode::f32_abs, Opcode::f32_sqrt) ||
             is_between(opcode, Opcode::f64_abs, Opcode::f64_sqrt)) {
    float_unary(opcode);
  } else if (is_between(opcode, Opcode::f32_add, Opcode::f32_copysign) ||
             is_between(opcode, Opcode::f64_add, Opcode::f64_copysign)) {
    float_binary(opcode);
  } else {
    convert(opcode);
  }
}

void Compiler::float_compare(Opcode opcode) {
  const bool is_double = number_of(opcode) >= number_of(Opcode::f64_eq);
  const Opcode kind = narrow_comparison(opcode, is_double);
  const Slot right_slot = values_.pop();
  const Slot left_slot = values_.pop();
  if (kind == Opcode::f32_eq || kind == Opcode::f32_ne) {
    // All ones where it holds; an unordered pair is not equal.
    const Register left = in_changeable_register(left_slot);
    const Register right = in_read_register(right_slot);
    const Register into = values_.allocate(false);
    const int predicate = kind == Opcode::f32_eq ? 0 : 4;
    if (is_double) {
      as_.cmpsd(xmm(left), xmm(right), predicate);
    } else {
      as_.cmpss(xmm(left), xmm(right), predicate);
    }
    as_.movd(gp32(into), xmm(left));
    as_.and_(gp32(into), 1);
    push_number(Kind::i32, into);
    return;
  }
  // Above and above-or-equal are false for unordered pairs; below is above the other way round.
  Register left = in_read_register(left_slot);
  Register right = in_read_register(right_slot);
  if (kind == Opcode::f32_lt || kind == Opcode::f32_le) std::swap(left, right);
  if (is_double) {
    as_.ucomisd(xmm(left), xmm(right));
  } else {
    as_.ucomiss(xmm(left), xmm(right));
  }
  const bool or_equal = kind == Opcode::f32_le || kind == Opcode::f32_ge;
  values_.unpin();
  values_.push_flags(or_equal ? x86::CondCode::kAE : x86::CondCode::kA);
}

void Compiler::float_unary(Opcode opcode) {
  const bool is_double = number_of(opcode) >= number_of(Opcode::f64_abs);
  const Kind type = is_double ? Kind::f64 : Kind::f32;
  const Opcode kind = narrow_arithmetic(opcode, is_double);
  if (kind == Opcode::f32_abs || kind == Opcode::f32_neg) {
    float_sign(is_double, kind == Opcode::f32_neg);
    return;
  }
  const Register into = pop_changeable();
  if (kind == Opcode::f32_sqrt) {
    if (is_double) {
      as_.sqrtsd(xmm(into), xmm(into));
    } else {
      as_.sqrtss(xmm(into), xmm(into));
    }
    push_number(type, into);
    return;
  }
  constexpr int quiet = 8;  // no precision exception
  const int mode = quiet | (kind == Opcode::f32_nearest ? 0
                            : kind == Opcode::f32_floor ? 1
                            : kind == Opcode::f32_ceil  ? 2
                                                        : 3);
  if (is_double) {
    as_.roundsd(xmm(into), xmm(into), mode);
  } else {
    as_.roundss(xmm(into), xmm(into), mode);
  }
  push_number(type, into);
}

/// On the bits: a NaN keeps all of its own.
void Compiler::float_sign(bool is_double, bool negate) {
  const Register into = pop_changeable();
  if (is_double) {
    as_.movq(gp64(scratch), xmm(into));
  } else {
    as_.movd(gp32(scratch), xmm(into));
  }
  const int sign = is_double ? 63 : 31;
  if (negate) {
    as_.btc(gp64(scratch), sign);
  } else {
    as_.btr(gp64(scratch), sign);
  }
  if (is_double) {
    as_.movq(xmm(into), gp64(scratch));
  } else {
    as_.movd(xmm(into), gp32(scratch));
  }
  push_number(is_double ? Kind::f64 : Kind::f32, into);
}

void Compiler::float_binary(Opcode opcode) {
  const bool is_double = number_of(opcode) >= number_of(Opcode::f64_abs);
  const Opcode kind = narrow_arithmetic(opcode, is_double);
  if (kind == Opcode::f32_min || kind == Opcode::f32_max) {
    float_minimum_maximum(is_double, kind == Opcode::f32_max);
    return;
  }
  if (kind == Opcode::f32_copysign) {
    copy_sign(is_double);
    return;
  }
  const Slot right = values_.pop();
  const Register into = in_changeable_register(values_.pop());
  const auto apply = [&](const auto& operand) {
    switch (kind) {
      case Opcode::f32_add:
        is_double ? as_.addsd(xmm(into), operand) : as_.addss(xmm(into), operand);
        return;
      case Opcode::f32_sub:
        is_double ? as_.subsd(xmm(into), operand) : as_.subss(xmm(into), operand);
        return;
      case Opcode::f32_mul:
        is_double ? as_.mulsd(xmm(into), operand) : as_.mulss(xmm(into), operand);
        return;
      default:
        is_double ? as_.divsd(xmm(into), operand) : as_.divss(xmm(into), operand);
    }
  };
  if (right.place == Place::memory) {
    apply(ValueStack::home_of(right));
  } else {
    apply(xmm(in_read_register(right)));
  }
  push_number(is_double ? Kind::f64 : Kind::f32, into);
}

void Compiler::float_minimum_maximum(bool is_double, bool is_maximum) {
  const Register right = pop_read();
  const Register into = in_changeable_register(values_.pop());
  const asmjit::Label differ = as_.newLabel();
  const asmjit::Label unordered = as_.newLabel();
  const asmjit::Label done = as_.newLabel();
  const x86::Xmm a = xmm(into);
  const x86::Xmm b = xmm(right);
  is_double ? as_.ucomisd(a, b) : as_.ucomiss(a, b);
  as_.jne(differ);
  as_.jp(unordered);
  // Equal: only the sign of zeros may differ, and the operands' bits decide.
  is_maximum ? as_.andps(a, b) : as_.orps(a, b);
  as_.jmp(done);
  as_.bind(unordered);
  is_double ? as_.addsd(a, b) : as_.addss(a, b);  // a quiet NaN comes out
  as_.jmp(done);
  as_.bind(differ);
  if (is_maximum) {
    is_double ? as_.maxsd(a, b) : as_.maxss(a, b);
  } else {
    is_double ? as_.minsd(a, b) : as_.minss(a, b);
  }
  as_.bind(done);
  push_number(is_double ? Kind::f64 : Kind::f32, into);
}

void Compiler::copy_sign(bool is_double) {
  const Register sign = pop_read();
  const Register into = in_changeable_register(values_.pop());
  const Register taken = values_.allocate(true);
  if (is_double) {
    as_.mov(gp64(scratch), std::uint64_t{1} << 63U);
    as_.movq(xmm(vector_scratch), gp64(scratch));
  } else {
    as_.mov(gp32(scratch), std::uint32_t{1} << 31U);
    as_.movd(xmm(vector_scratch), gp32(scratch));
  }
  as_.movaps(xmm(taken), xmm(vector_scratch));
  as_.andps(xmm(taken), xmm(sign));
  as_.andnps(xmm(vector_scratch), xmm(into));
  as_.movaps(xmm(into), xmm(vector_scratch));
  as_.orps(xmm(into), xmm(taken));
  push_number(is_double ? Kind::f64 : Kind::f32, into);
}

}  // namespace plimsoll::wasm::baseline
