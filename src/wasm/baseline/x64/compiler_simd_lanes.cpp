// Vectors made from and taken apart into lanes; constants, shuffles, and access to memory.
#include <cstring>

#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

using Kind = ValueType::Kind;

void Compiler::v128_const(std::span<const std::byte> bytes) {
  values_.settle_flags();
  std::uint64_t halves[2];
  std::memcpy(halves, bytes.data(), sizeof halves);
  if (halves[0] == 0 && halves[1] == 0) {
    values_.push_constant(Kind::v128, 0);
    return;
  }
  const Register into = values_.allocate(true);
  load_vector_constant(into, halves[0], halves[1]);
  push_number(Kind::v128, into);
}

void Compiler::shuffle(std::span<const std::byte> lanes) {
  const Register right = pop_read();
  const Register into = in_changeable_register(values_.pop());
  // Each operand by its own mask; a lane of the other one becomes zero.
  constexpr std::uint8_t nothing = 0x80;
  std::uint8_t from_left[16];
  std::uint8_t from_right[16];
  for (std::size_t lane = 0; lane < 16; ++lane) {
    const auto index = static_cast<std::uint8_t>(lanes[lane]);
    from_left[lane] = index < 16 ? index : nothing;
    from_right[lane] = index >= 16 ? static_cast<std::uint8_t>(index - 16) : nothing;
  }
  std::uint64_t mask[2];
  const Register other = values_.allocate(true);
  as_.movaps(xmm(other), xmm(right));
  std::memcpy(mask, from_right, sizeof mask);
  load_vector_constant(vector_scratch, mask[0], mask[1]);
  as_.pshufb(xmm(other), xmm(vector_scratch));
  std::memcpy(mask, from_left, sizeof mask);
  load_vector_constant(vector_scratch, mask[0], mask[1]);
  as_.pshufb(xmm(into), xmm(vector_scratch));
  as_.por(xmm(into), xmm(other));
  push_number(Kind::v128, into);
}

bool Compiler::simd_splat(Opcode opcode) {
  if (opcode == Opcode::i8x16_swizzle) {
    const Register lanes = pop_read();
    const Register into = in_changeable_register(values_.pop());
    // Indices from 16 on get their highest bit set, which gives zero.
    load_vector_constant(vector_scratch, 0x7070707070707070, 0x7070707070707070);
    as_.paddusb(xmm(vector_scratch), xmm(lanes));
    as_.pshufb(xmm(into), xmm(vector_scratch));
    push_number(Kind::v128, into);
    return true;
  }
  if (opcode == Opcode::f32x4_splat || opcode == Opcode::f64x2_splat) {
    const Register into = pop_changeable();
    if (opcode == Opcode::f32x4_splat) {
      as_.shufps(xmm(into), xmm(into), 0);
    } else {
      as_.movddup(xmm(into), xmm(into));
    }
    push_number(Kind::v128, into);
    return true;
  }
  if (opcode != Opcode::i8x16_splat && opcode != Opcode::i16x8_splat &&
      opcode != Opcode::i32x4_splat && opcode != Opcode::i64x2_splat) {
    return false;
  }
  const Register from = pop_read();
  const Register into = values_.allocate(true);
  if (opcode == Opcode::i64x2_splat) {
    as_.movq(xmm(into), gp64(from));
  } else {
    as_.movd(xmm(into), gp32(from));
  }
  spread(into, opcode);
  push_number(Kind::v128, into);
  return true;
}

/// The lowest lane to all lanes.
void Compiler::spread(Register into, Opcode splat) {
  if (splat == Opcode::i8x16_splat) {
    as_.pxor(xmm(vector_scratch), xmm(vector_scratch));
    as_.pshufb(xmm(into), xmm(vector_scratch));
  } else if (splat == Opcode::i16x8_splat) {
    as_.pshuflw(xmm(into), xmm(into), 0);
    as_.pshufd(xmm(into), xmm(into), 0);
  } else if (splat == Opcode::i32x4_splat) {
    as_.pshufd(xmm(into), xmm(into), 0);
  } else {
    as_.punpcklqdq(xmm(into), xmm(into));
  }
}

void Compiler::lane(Opcode opcode, std::uint8_t lane) {
  values_.settle_flags();
  const OpcodeInfo& info = opcode_table[static_cast<std::uint32_t>(opcode)];
  if (info.operand_count == 2) {
    replace_lane(opcode, lane);
    return;
  }
  const Register from = pop_read();
  if (opcode == Opcode::f32x4_extract_lane || opcode == Opcode::f64x2_extract_lane) {
    const Register into = values_.allocate(true);
    const bool is_double = opcode == Opcode::f64x2_extract_lane;
    as_.pshufd(xmm(into), xmm(from), is_double ? (lane == 0 ? 0x44 : 0xEE) : lane);
    push_number(is_double ? Kind::f64 : Kind::f32, into);
    return;
  }
  const Register into = values_.allocate(false);
  switch (opcode) {
    case Opcode::i8x16_extract_lane_s:
      as_.pextrb(gp32(into), xmm(from), lane);
      as_.movsx(gp32(into), x86::gpb(into));
      break;
    case Opcode::i8x16_extract_lane_u:
      as_.pextrb(gp32(into), xmm(from), lane);
      break;
    case Opcode::i16x8_extract_lane_s:
      as_.pextrw(gp32(into), xmm(from), lane);
      as_.movsx(gp32(into), x86::gpw(into));
      break;
    case Opcode::i16x8_extract_lane_u:
      as_.pextrw(gp32(into), xmm(from), lane);
      break;
    case Opcode::i32x4_extract_lane:
      as_.pextrd(gp32(into), xmm(from), lane);
      break;
    default:
      as_.pextrq(gp64(into), xmm(from), lane);
      push_number(Kind::i64, into);
      return;
  }
  push_number(Kind::i32, into);
}

void Compiler::replace_lane(Opcode opcode, std::uint8_t lane) {
  const Register value = in_read_register(values_.pop());
  const Register into = in_changeable_register(values_.pop());
  switch (opcode) {
    case Opcode::i8x16_replace_lane:
      as_.pinsrb(xmm(into), gp32(value), lane);
      break;
    case Opcode::i16x8_replace_lane:
      as_.pinsrw(xmm(into), gp32(value), lane);
      break;
    case Opcode::i32x4_replace_lane:
      as_.pinsrd(xmm(into), gp32(value), lane);
      break;
    case Opcode::i64x2_replace_lane:
      as_.pinsrq(xmm(into), gp64(value), lane);
      break;
    case Opcode::f32x4_replace_lane:
      as_.insertps(xmm(into), xmm(value), lane << 4);
      break;
    default:
      if (lane == 0) {
        as_.movsd(xmm(into), xmm(value));
      } else {
        as_.unpcklpd(xmm(into), xmm(value));
      }
  }
  push_number(Kind::v128, into);
}

void Compiler::load_vector(Opcode opcode, Register into, const x86::Mem& from) {
  switch (opcode) {
    case Opcode::v128_load:
      as_.movups(xmm(into), from);
      return;
    case Opcode::v128_load8x8_s:
      as_.pmovsxbw(xmm(into), from);
      return;
    case Opcode::v128_load8x8_u:
      as_.pmovzxbw(xmm(into), from);
      return;
    case Opcode::v128_load16x4_s:
      as_.pmovsxwd(xmm(into), from);
      return;
    case Opcode::v128_load16x4_u:
      as_.pmovzxwd(xmm(into), from);
      return;
    case Opcode::v128_load32x2_s:
      as_.pmovsxdq(xmm(into), from);
      return;
    case Opcode::v128_load32x2_u:
      as_.pmovzxdq(xmm(into), from);
      return;
    case Opcode::v128_load8_splat:
      as_.movzx(gp32(scratch), sized(from, 1));
      as_.movd(xmm(into), gp32(scratch));
      spread(into, Opcode::i8x16_splat);
      return;
    case Opcode::v128_load16_splat:
      as_.movzx(gp32(scratch), sized(from, 2));
      as_.movd(xmm(into), gp32(scratch));
      spread(into, Opcode::i16x8_splat);
      return;
    case Opcode::v128_load32_splat:
      as_.movss(xmm(into), from);
      spread(into, Opcode::i32x4_splat);
      return;
    case Opcode::v128_load64_splat:
      as_.movddup(xmm(into), from);
      return;
    case Opcode::v128_load32_zero:
      as_.movss(xmm(into), from);
      return;
    default:  // v128.load64_zero
      as_.movsd(xmm(into), from);
      return;
  }
}

void Compiler::load_lane(Opcode opcode, const MemoryArgument& argument, std::uint8_t lane) {
  values_.settle_flags();
  const OpcodeInfo& info = opcode_table[static_cast<std::uint32_t>(opcode)];
  const Register into = in_changeable_register(values_.pop());
  const Slot index = values_.pop();
  const std::uint32_t bytes = 1U << info.extra;
  const x86::Mem from = sized(address(index, argument, bytes), bytes);
  mark_site(TrapKind::memory_out_of_bounds);
  switch (bytes) {
    case 1:
      as_.pinsrb(xmm(into), from, lane);
      break;
    case 2:
      as_.pinsrw(xmm(into), from, lane);
      break;
    case 4:
      as_.pinsrd(xmm(into), from, lane);
      break;
    default:
      as_.pinsrq(xmm(into), from, lane);
  }
  push_number(Kind::v128, into);
}

void Compiler::store_lane(Opcode opcode, const MemoryArgument& argument, std::uint8_t lane) {
  values_.settle_flags();
  const OpcodeInfo& info = opcode_table[static_cast<std::uint32_t>(opcode)];
  const Register value = in_read_register(values_.pop());
  const Slot index = values_.pop();
  const std::uint32_t bytes = 1U << info.extra;
  const x86::Mem into = sized(address(index, argument, bytes), bytes);
  mark_site(TrapKind::memory_out_of_bounds);
  switch (bytes) {
    case 1:
      as_.pextrb(into, xmm(value), lane);
      break;
    case 2:
      as_.pextrw(into, xmm(value), lane);
      break;
    case 4:
      as_.pextrd(into, xmm(value), lane);
      break;
    default:
      as_.pextrq(into, xmm(value), lane);
  }
  values_.unpin();
}

}  // namespace plimsoll::wasm::baseline
