// Integer arithmetic but division.
#include <bit>
#include <optional>

#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {
namespace {

using Kind = ValueType::Kind;

constexpr std::uint32_t number_of(Opcode opcode) {
  return static_cast<std::uint32_t>(opcode);
}

/// In the order of the opcodes: eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u.
constexpr std::array<x86::CondCode, 10> conditions = {
    x86::CondCode::kE,  x86::CondCode::kNE, x86::CondCode::kL,  x86::CondCode::kB,
    x86::CondCode::kG,  x86::CondCode::kA,  x86::CondCode::kLE, x86::CondCode::kBE,
    x86::CondCode::kGE, x86::CondCode::kAE};

/// The distance from an i32 operator to the same one of i64.
constexpr std::uint32_t to_64 = number_of(Opcode::i64_add) - number_of(Opcode::i32_add);

/// The i32 operator that does the same.
constexpr Opcode narrow(Opcode opcode, bool is_64) {
  return static_cast<Opcode>(number_of(opcode) - (is_64 ? to_64 : 0));
}

constexpr bool is_between(Opcode opcode, Opcode first, Opcode last) {
  return number_of(opcode) >= number_of(first) && number_of(opcode) <= number_of(last);
}

/// What both constants give, where it is defined without trapping.
std::optional<std::int64_t> fold(Opcode opcode, std::int64_t left, std::int64_t right) {
  const auto a = static_cast<std::uint64_t>(left);
  const auto b = static_cast<std::uint64_t>(right);
  switch (opcode) {
    case Opcode::i32_add:
      return static_cast<std::int64_t>(a + b);
    case Opcode::i32_sub:
      return static_cast<std::int64_t>(a - b);
    case Opcode::i32_mul:
      return static_cast<std::int64_t>(a * b);
    case Opcode::i32_and:
      return static_cast<std::int64_t>(a & b);
    case Opcode::i32_or:
      return static_cast<std::int64_t>(a | b);
    case Opcode::i32_xor:
      return static_cast<std::int64_t>(a ^ b);
    default:
      return std::nullopt;
  }
}

}  // namespace

void Compiler::plain(Opcode opcode) {
  if (is_between(opcode, Opcode::i32_eqz, Opcode::i64_ge_u)) {
    const bool is_64 = number_of(opcode) >= number_of(Opcode::i64_eqz);
    if (opcode == Opcode::i32_eqz || opcode == Opcode::i64_eqz) {
      equal_zero(is_64);
    } else {
      const Opcode first = is_64 ? Opcode::i64_eq : Opcode::i32_eq;
      values_.settle_flags();
      compare(conditions[number_of(opcode) - number_of(first)], is_64);
    }
    return;
  }
  values_.settle_flags();
  if (is_between(opcode, Opcode::i32_clz, Opcode::i32_rotr)) {
    integer(opcode, false);
  } else if (is_between(opcode, Opcode::i64_clz, Opcode::i64_rotr)) {
    integer(opcode, true);
  } else if (is_between(opcode, Opcode::i32_extend8_s, Opcode::i64_extend32_s) ||
             opcode == Opcode::i32_wrap_i64 || opcode == Opcode::i64_extend_i32_s ||
             opcode == Opcode::i64_extend_i32_u) {
    extend(opcode);
  } else if (number_of(opcode) < page_simd) {
    float_plain(opcode);
  } else {
    simd(opcode);
  }
}

void Compiler::integer(Opcode opcode, bool is_64) {
  switch (narrow(opcode, is_64)) {
    case Opcode::i32_clz:
    case Opcode::i32_ctz:
    case Opcode::i32_popcnt:
      count_bits(narrow(opcode, is_64), is_64);
      return;
    case Opcode::i32_div_s:
      divide(is_64, true, false);
      return;
    case Opcode::i32_div_u:
      divide(is_64, false, false);
      return;
    case Opcode::i32_rem_s:
      divide(is_64, true, true);
      return;
    case Opcode::i32_rem_u:
      divide(is_64, false, true);
      return;
    case Opcode::i32_shl:
    case Opcode::i32_shr_s:
    case Opcode::i32_shr_u:
    case Opcode::i32_rotl:
    case Opcode::i32_rotr:
      shift(narrow(opcode, is_64), is_64);
      return;
    default:
      integer_binary(narrow(opcode, is_64), is_64);
  }
}

void Compiler::integer_binary(Opcode opcode, bool is_64) {
  const Kind kind = is_64 ? Kind::i64 : Kind::i32;
  Slot right = values_.pop();
  Slot left = values_.pop();
  if (left.place == Place::constant && right.place == Place::constant) {
    const auto folded = fold(opcode, left.value, right.value);
    const std::int64_t value =
        is_64 ? folded.value_or(INT64_MIN)
              : static_cast<std::int32_t>(static_cast<std::uint64_t>(folded.value_or(0)));
    if (folded && value == static_cast<std::int32_t>(value)) {
      values_.push_constant(kind, static_cast<std::int32_t>(value));
      values_.unpin();
      return;
    }
  }
  const bool commutes = opcode != Opcode::i32_sub;
  // A left operand that must be copied, and a right one that need not: the other way round.
  const auto is_free = [&](const Slot& slot) {
    return slot.place == Place::in_register && values_.is_unused(slot.in);
  };
  if (commutes && (left.place == Place::constant || (!is_free(left) && is_free(right)))) {
    std::swap(left, right);
  }
  const Register into = in_changeable_register(left);
  const auto apply = [&](const auto& operand) {
    const x86::Gp target = is_64 ? gp64(into) : gp32(into);
    switch (opcode) {
      case Opcode::i32_add:
        as_.add(target, operand);
        return;
      case Opcode::i32_sub:
        as_.sub(target, operand);
        return;
      case Opcode::i32_and:
        as_.and_(target, operand);
        return;
      case Opcode::i32_or:
        as_.or_(target, operand);
        return;
      case Opcode::i32_xor:
        as_.xor_(target, operand);
        return;
      default:
        if constexpr (std::is_same_v<decltype(operand), asmjit::Imm>) {
          as_.imul(target, target, operand);
        } else {
          as_.imul(target, operand);
        }
    }
  };
  if (right.place == Place::constant) {
    apply(asmjit::Imm(right.value));
  } else if (right.place == Place::memory) {
    apply(ValueStack::home_of(right));
  } else {
    apply(is_64 ? gp64(right.in) : gp32(right.in));
  }
  push_number(kind, into);
}

void Compiler::shift(Opcode opcode, bool is_64) {
  const Kind kind = is_64 ? Kind::i64 : Kind::i32;
  const Slot count = values_.pop();
  const Slot value = values_.pop();
  const auto apply = [&](Register into, const auto& operand) {
    const x86::Gp target = is_64 ? gp64(into) : gp32(into);
    switch (opcode) {
      case Opcode::i32_shl:
        as_.shl(target, operand);
        return;
      case Opcode::i32_shr_s:
        as_.sar(target, operand);
        return;
      case Opcode::i32_shr_u:
        as_.shr(target, operand);
        return;
      case Opcode::i32_rotl:
        as_.rol(target, operand);
        return;
      default:
        as_.ror(target, operand);
    }
  };
  if (count.place == Place::constant) {
    const Register into = in_changeable_register(value);
    apply(into, asmjit::Imm(count.value & (is_64 ? 63 : 31)));
    push_number(kind, into);
    return;
  }
  // The count belongs in rcx. The value must not be there, nor a slot that lives on.
  Register into = in_changeable_register(value);
  if (into == rcx) {
    into = values_.allocate(false);
    as_.mov(gp64(into), x86::rcx);
  }
  if (count.place != Place::in_register || count.in != rcx) {
    values_.claim(rcx);
    values_.load(rcx, count);
  }
  apply(into, x86::cl);
  push_number(kind, into);
}

void Compiler::compare(x86::CondCode condition, bool is_64) {
  Slot right = values_.pop();
  Slot left = values_.pop();
  if (left.place == Place::constant) {
    std::swap(left, right);
    condition = x86::reverseCond(condition);
  }
  const Register compared = in_read_register(left);
  const x86::Gp target = is_64 ? gp64(compared) : gp32(compared);
  if (right.place == Place::constant) {
    if (right.value == 0 && (condition == x86::CondCode::kE || condition == x86::CondCode::kNE)) {
      as_.test(target, target);
    } else {
      as_.cmp(target, right.value);
    }
  } else if (right.place == Place::memory) {
    as_.cmp(target, ValueStack::home_of(right));
  } else {
    as_.cmp(target, is_64 ? gp64(right.in) : gp32(right.in));
  }
  values_.unpin();
  values_.push_flags(condition);
}

void Compiler::equal_zero(bool is_64) {
  const Slot slot = values_.pop();
  if (slot.place == Place::flags) {
    values_.push_flags(x86::negateCond(static_cast<x86::CondCode>(slot.value)));
    return;
  }
  const Register tested = in_read_register(slot);
  const x86::Gp target = is_64 ? gp64(tested) : gp32(tested);
  as_.test(target, target);
  values_.unpin();
  values_.push_flags(x86::CondCode::kE);
}

void Compiler::count_bits(Opcode opcode, bool is_64) {
  const Register from = pop_read();
  const Register into = values_.allocate(false);
  const x86::Gp source = is_64 ? gp64(from) : gp32(from);
  const x86::Gp target = is_64 ? gp64(into) : gp32(into);
  const int width = is_64 ? 64 : 32;
  if (opcode == Opcode::i32_popcnt) {
    as_.popcnt(target, source);
  } else if (opcode == Opcode::i32_ctz) {
    // Of zero: bsf leaves its target alone on the processors there are, so cmov decides.
    as_.mov(gp32(scratch), width);
    as_.bsf(target, source);
    as_.cmovz(target, is_64 ? gp64(scratch) : gp32(scratch));
  } else {
    as_.mov(gp32(scratch), 2 * width - 1);
    as_.bsr(target, source);
    as_.cmovz(target, is_64 ? gp64(scratch) : gp32(scratch));
    as_.xor_(target, width - 1);
  }
  push_number(is_64 ? Kind::i64 : Kind::i32, into);
}

void Compiler::extend(Opcode opcode) {
  const Slot slot = values_.pop();
  if (slot.place == Place::constant && opcode == Opcode::i32_wrap_i64) {
    values_.push_constant(Kind::i32, slot.value);
    return;
  }
  const Register from = in_read_register(slot);
  const Register into =
      values_.is_unused(from) && slot.place == Place::in_register ? from : values_.allocate(false);
  Kind kind = Kind::i64;
  switch (opcode) {
    case Opcode::i32_wrap_i64:
      as_.mov(gp32(into), gp32(from));
      kind = Kind::i32;
      break;
    case Opcode::i64_extend_i32_u:
      as_.mov(gp32(into), gp32(from));
      break;
    case Opcode::i64_extend_i32_s:
    case Opcode::i64_extend32_s:
      as_.movsxd(gp64(into), gp32(from));
      break;
    case Opcode::i32_extend8_s:
      as_.movsx(gp32(into), x86::gpb(from));
      kind = Kind::i32;
      break;
    case Opcode::i32_extend16_s:
      as_.movsx(gp32(into), x86::gpw(from));
      kind = Kind::i32;
      break;
    case Opcode::i64_extend8_s:
      as_.movsx(gp64(into), x86::gpb(from));
      break;
    default:  // i64.extend16_s
      as_.movsx(gp64(into), x86::gpw(from));
      break;
  }
  push_number(kind, into);
}

}  // namespace plimsoll::wasm::baseline
