// Conversions between numbers: to integers by truncation, trapping or saturating, and back.
#include <bit>

#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {
namespace {

using Kind = ValueType::Kind;

/// One conversion to an integer.
struct Truncation {
  bool from_double = false;
  bool to_64 = false;
  bool is_signed = false;
  bool saturates = false;
};

Truncation truncation_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::i32_trunc_f32_s:
      return {.is_signed = true};
    case Opcode::i32_trunc_f32_u:
      return {};
    case Opcode::i32_trunc_f64_s:
      return {.from_double = true, .is_signed = true};
    case Opcode::i32_trunc_f64_u:
      return {.from_double = true};
    case Opcode::i64_trunc_f32_s:
      return {.to_64 = true, .is_signed = true};
    case Opcode::i64_trunc_f32_u:
      return {.to_64 = true};
    case Opcode::i64_trunc_f64_s:
      return {.from_double = true, .to_64 = true, .is_signed = true};
    case Opcode::i64_trunc_f64_u:
      return {.from_double = true, .to_64 = true};
    default:
      break;
  }
  // The saturating ones come in the same order.
  const auto place =
      static_cast<std::uint32_t>(opcode) - static_cast<std::uint32_t>(Opcode::i32_trunc_sat_f32_s);
  return {.from_double = (place & 2U) != 0,
          .to_64 = (place & 4U) != 0,
          .is_signed = (place & 1U) == 0,
          .saturates = true};
}

constexpr double two_to_31 = 2147483648.0;
constexpr double two_to_32 = 4294967296.0;
constexpr double two_to_63 = 9223372036854775808.0;
constexpr double two_to_64 = 18446744073709551616.0;

/// The first number above that does not fit.
double upper_bound(const Truncation& how) {
  if (how.to_64) return how.is_signed ? two_to_63 : two_to_64;
  return how.is_signed ? two_to_31 : two_to_32;
}

}  // namespace

/// A constant in the scratch registers, in the width of what it is compared with.
void Compiler::load_float_constant(double value, bool is_double) {
  if (is_double) {
    as_.mov(gp64(scratch), std::bit_cast<std::uint64_t>(value));
    as_.movq(xmm(vector_scratch), gp64(scratch));
  } else {
    as_.mov(gp32(scratch), std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    as_.movd(xmm(vector_scratch), gp32(scratch));
  }
}

void Compiler::compare_with_constant(Register in, double value, bool is_double) {
  load_float_constant(value, is_double);
  if (is_double) {
    as_.ucomisd(xmm(in), xmm(vector_scratch));
  } else {
    as_.ucomiss(xmm(in), xmm(vector_scratch));
  }
}

void Compiler::convert(Opcode opcode) {
  const auto number = static_cast<std::uint32_t>(opcode);
  const bool truncates = (number >= static_cast<std::uint32_t>(Opcode::i32_trunc_f32_s) &&
                          number <= static_cast<std::uint32_t>(Opcode::i32_trunc_f64_u)) ||
                         (number >= static_cast<std::uint32_t>(Opcode::i64_trunc_f32_s) &&
                          number <= static_cast<std::uint32_t>(Opcode::i64_trunc_f64_u)) ||
                         number >= page_bulk;
  if (truncates) {
    truncate(opcode);
    return;
  }
  switch (opcode) {
    case Opcode::f32_demote_f64: {
      const Register into = pop_changeable();
      as_.cvtsd2ss(xmm(into), xmm(into));
      push_number(Kind::f32, into);
      return;
    }
    case Opcode::f64_promote_f32: {
      const Register into = pop_changeable();
      as_.cvtss2sd(xmm(into), xmm(into));
      push_number(Kind::f64, into);
      return;
    }
    case Opcode::i32_reinterpret_f32:
    case Opcode::i64_reinterpret_f64:
    case Opcode::f32_reinterpret_i32:
    case Opcode::f64_reinterpret_i64:
      reinterpret(opcode);
      return;
    default:
      convert_integer(opcode);
  }
}

void Compiler::reinterpret(Opcode opcode) {
  const Register from = pop_read();
  const bool to_integer =
      opcode == Opcode::i32_reinterpret_f32 || opcode == Opcode::i64_reinterpret_f64;
  const bool wide = opcode == Opcode::i64_reinterpret_f64 || opcode == Opcode::f64_reinterpret_i64;
  const Register into = values_.allocate(!to_integer);
  if (to_integer) {
    wide ? as_.movq(gp64(into), xmm(from)) : as_.movd(gp32(into), xmm(from));
    push_number(wide ? Kind::i64 : Kind::i32, into);
  } else {
    wide ? as_.movq(xmm(into), gp64(from)) : as_.movd(xmm(into), gp32(from));
    push_number(wide ? Kind::f64 : Kind::f32, into);
  }
}

void Compiler::convert_integer(Opcode opcode) {
  const bool to_double = opcode == Opcode::f64_convert_i32_s ||
                         opcode == Opcode::f64_convert_i32_u ||
                         opcode == Opcode::f64_convert_i64_s || opcode == Opcode::f64_convert_i64_u;
  const Register from = pop_read();
  const Register into = values_.allocate(true);
  const x86::Xmm target = xmm(into);
  const auto from_signed = [&](const x86::Gp& source) {
    as_.xorps(target, target);  // the rest of the register would be waited for
    to_double ? as_.cvtsi2sd(target, source) : as_.cvtsi2ss(target, source);
  };
  switch (opcode) {
    case Opcode::f32_convert_i32_s:
    case Opcode::f64_convert_i32_s:
      from_signed(gp32(from));
      break;
    case Opcode::f32_convert_i32_u:
    case Opcode::f64_convert_i32_u:
      as_.mov(gp32(scratch), gp32(from));
      from_signed(gp64(scratch));
      break;
    case Opcode::f32_convert_i64_s:
    case Opcode::f64_convert_i64_s:
      from_signed(gp64(from));
      break;
    default: {
      // From 2^63 on: half of it, the lost bit kept for rounding, and doubled again.
      const Register half = values_.allocate(false);
      const asmjit::Label high = as_.newLabel();
      const asmjit::Label done = as_.newLabel();
      as_.test(gp64(from), gp64(from));
      as_.js(high);
      from_signed(gp64(from));
      as_.jmp(done);
      as_.bind(high);
      as_.mov(gp64(scratch), gp64(from));
      as_.mov(gp32(half), gp32(from));
      as_.and_(gp32(half), 1);
      as_.shr(gp64(scratch), 1);
      as_.or_(gp64(scratch), gp64(half));
      from_signed(gp64(scratch));
      to_double ? as_.addsd(target, target) : as_.addss(target, target);
      as_.bind(done);
    }
  }
  push_number(to_double ? Kind::f64 : Kind::f32, into);
}

/// Truncates what is known to fit.
void Compiler::truncate_in_range(Register into, Register from, bool from_double, bool wide) {
  const x86::Gp target = wide ? gp64(into) : gp32(into);
  from_double ? as_.cvttsd2si(target, xmm(from)) : as_.cvttss2si(target, xmm(from));
}

void Compiler::truncate(Opcode opcode) {
  const Truncation how = truncation_of(opcode);
  const Register from = pop_read();
  const Register into = values_.allocate(false);
  const asmjit::Label done = as_.newLabel();
  const x86::Xmm source = xmm(from);
  how.from_double ? as_.ucomisd(source, source) : as_.ucomiss(source, source);
  if (how.saturates) {
    as_.mov(gp32(into), 0);  // leaves the flags
    as_.jp(done);
    saturate(into, from, how.from_double, how.to_64, how.is_signed, done);
  } else {
    as_.jp(trap_label(TrapKind::invalid_conversion));
    // Below: what truncates to the least is still in range, where the type can tell it apart.
    if (!how.is_signed) {
      compare_with_constant(from, -1.0, how.from_double);
      as_.jbe(trap_label(TrapKind::integer_overflow));
    } else if (how.from_double && !how.to_64) {
      compare_with_constant(from, -two_to_31 - 1, true);
      as_.jbe(trap_label(TrapKind::integer_overflow));
    } else {
      compare_with_constant(from, how.to_64 ? -two_to_63 : -two_to_31, how.from_double);
      as_.jb(trap_label(TrapKind::integer_overflow));
    }
    compare_with_constant(from, upper_bound(how), how.from_double);
    as_.jae(trap_label(TrapKind::integer_overflow));
  }
  if (how.to_64 && !how.is_signed) {
    truncate_unsigned(into, from, how.from_double);
  } else {
    truncate_in_range(into, from, how.from_double, how.to_64 || !how.is_signed);
  }
  as_.bind(done);
  push_number(how.to_64 ? Kind::i64 : Kind::i32, into);
}

/// Goes to `done` with the nearest number where it does not fit.
void Compiler::saturate(Register into, Register from, bool from_double, bool to_64, bool is_signed,
                        const asmjit::Label& done) {
  const Truncation how{.from_double = from_double, .to_64 = to_64, .is_signed = is_signed};
  const std::uint64_t least = !is_signed ? 0 : to_64 ? std::uint64_t{1} << 63U : 0x80000000;
  const std::uint64_t most =
      is_signed ? (to_64 ? INT64_MAX : INT32_MAX) : (to_64 ? UINT64_MAX : UINT32_MAX);
  const double lower = !is_signed ? 0.0 : to_64 ? -two_to_63 : -two_to_31;
  compare_with_constant(from, lower, from_double);
  as_.mov(gp64(into), least);
  as_.jbe(done);
  compare_with_constant(from, upper_bound(how), from_double);
  as_.mov(gp64(into), most);
  as_.jae(done);
}

/// To 64 bits without sign: the machine knows signed ones, so the upper half is moved down first.
void Compiler::truncate_unsigned(Register into, Register from, bool from_double) {
  const asmjit::Label high = as_.newLabel();
  const asmjit::Label done = as_.newLabel();
  compare_with_constant(from, two_to_63, from_double);
  as_.jae(high);
  truncate_in_range(into, from, from_double, true);
  as_.jmp(done);
  as_.bind(high);
  // The constant is in the scratch register: its negative plus the number.
  if (from_double) {
    as_.movq(gp64(into), xmm(vector_scratch));
    as_.btc(gp64(into), 63);
    as_.movq(xmm(vector_scratch), gp64(into));
    as_.addsd(xmm(vector_scratch), xmm(from));
  } else {
    as_.movd(gp32(into), xmm(vector_scratch));
    as_.btc(gp32(into), 31);
    as_.movd(xmm(vector_scratch), gp32(into));
    as_.addss(xmm(vector_scratch), xmm(from));
  }
  truncate_in_range(into, vector_scratch, from_double, true);
  as_.btc(gp64(into), 63);
  as_.bind(done);
}

}  // namespace plimsoll::wasm::baseline
