// Memory access: one instruction on base and index, with a trap site.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

using Kind = ValueType::Kind;

/// The operand for an access of `bytes` bytes. Guard pages decide for 32-bit memory 0: its index
/// and offset reach less than 8 GiB, all of which is reserved (runtime/memory.h). Everything else
/// is compared first. The scratch register is part of the operand: use it at once.
x86::Mem Compiler::address(const Slot& index, const MemoryArgument& argument, std::uint32_t bytes,
                           bool in_scratch) {
  const bool by_guard = argument.memory == 0 && !argument.is_64 && !settings_.explicit_bounds;
  if (by_guard && argument.offset <= (in_scratch ? 0 : INT32_MAX - 16)) {
    const auto offset = static_cast<std::int32_t>(argument.offset);
    if (index.place == Place::constant) {
      as_.mov(gp32(scratch), index.value);
    } else if (index.place == Place::memory) {
      as_.mov(gp32(scratch), ValueStack::home_of(index));
    } else {
      as_.mov(gp32(scratch), gp32(index.in));  // here, whatever its upper half holds
    }
    return x86::ptr(x86::rbx, gp64(scratch), 0, offset);
  }
  // scratch = index + offset, in 64 bits.
  const Register base = values_.allocate(false);
  if (argument.is_64) {
    if (index.place == Place::constant) {
      as_.mov(gp64(scratch), static_cast<std::int64_t>(index.value));
    } else {
      values_.load(scratch, index);
    }
  } else {
    Slot narrow = index;
    narrow.kind = Kind::i32;
    if (narrow.place == Place::in_register) {
      as_.mov(gp32(scratch), gp32(narrow.in));
    } else {
      values_.load(scratch, narrow);
    }
  }
  as_.mov(gp64(base), argument.offset);
  as_.add(gp64(scratch), gp64(base));
  if (argument.is_64) as_.jc(trap_label(TrapKind::memory_out_of_bounds));
  if (by_guard) return x86::ptr(x86::rbx, gp64(scratch));
  // Its end is compared with the size as it is now.
  as_.add(gp64(scratch), bytes);
  if (argument.is_64) as_.jc(trap_label(TrapKind::memory_out_of_bounds));
  load_memory_view(base, argument.memory);
  as_.cmp(gp64(scratch), x86::ptr(gp64(base), offsetof(MemoryView, bytes)));
  as_.ja(trap_label(TrapKind::memory_out_of_bounds));
  as_.mov(gp64(base), x86::ptr(gp64(base), offsetof(MemoryView, base)));
  return x86::ptr(gp64(base), gp64(scratch), 0, -static_cast<std::int32_t>(bytes));
}

void Compiler::load_memory_view(Register into, std::uint32_t memory) {
  if (memory == 0) {
    as_.mov(gp64(into), context_field(offsetof(InstanceContext, memory0)));
    return;
  }
  as_.mov(gp64(into), context_field(offsetof(InstanceContext, memories)));
  as_.mov(gp64(into), x86::ptr(gp64(into), static_cast<std::int32_t>(memory * 8)));
}

void Compiler::load(Opcode opcode, const MemoryArgument& argument) {
  values_.settle_flags();
  const OpcodeInfo& info = opcode_table[static_cast<std::uint32_t>(opcode)];
  const auto kind = static_cast<Kind>(info.result);
  const Slot index = values_.pop();
  const bool vector_class = kind == Kind::f32 || kind == Kind::f64 || kind == Kind::v128;
  const Register into = values_.allocate(vector_class);
  const x86::Mem from = address(index, argument, 1U << info.extra);
  mark_site(TrapKind::memory_out_of_bounds);
  if (kind == Kind::v128) {
    load_vector(opcode, into, from);
    push_number(kind, into);
    return;
  }
  switch (opcode) {
    case Opcode::i32_load:
    case Opcode::i64_load32_u:
      as_.mov(gp32(into), from);
      break;
    case Opcode::i64_load:
      as_.mov(gp64(into), from);
      break;
    case Opcode::f32_load:
      as_.movss(xmm(into), from);
      break;
    case Opcode::f64_load:
      as_.movsd(xmm(into), from);
      break;
    case Opcode::i32_load8_s:
      as_.movsx(gp32(into), sized(from, 1));
      break;
    case Opcode::i64_load8_s:
      as_.movsx(gp64(into), sized(from, 1));
      break;
    case Opcode::i32_load8_u:
    case Opcode::i64_load8_u:
      as_.movzx(gp32(into), sized(from, 1));
      break;
    case Opcode::i32_load16_s:
      as_.movsx(gp32(into), sized(from, 2));
      break;
    case Opcode::i64_load16_s:
      as_.movsx(gp64(into), sized(from, 2));
      break;
    case Opcode::i32_load16_u:
    case Opcode::i64_load16_u:
      as_.movzx(gp32(into), sized(from, 2));
      break;
    default:  // i64.load32_s
      as_.movsxd(gp64(into), sized(from, 4));
      break;
  }
  push_number(kind, into);
}

x86::Mem Compiler::sized(x86::Mem memory, std::uint32_t bytes) {
  memory.setSize(bytes);
  return memory;
}

void Compiler::store(Opcode opcode, const MemoryArgument& argument) {
  values_.settle_flags();
  const OpcodeInfo& info = opcode_table[static_cast<std::uint32_t>(opcode)];
  const Slot value_slot = values_.pop();
  const Slot index = values_.pop();
  const bool is_constant = value_slot.place == Place::constant && !value_slot.is_vector_class();
  const Register value = is_constant ? no_register : in_read_register(value_slot);
  const std::uint32_t bytes = 1U << info.extra;
  const x86::Mem into = sized(address(index, argument, bytes), bytes);
  mark_site(TrapKind::memory_out_of_bounds);
  if (is_constant) {
    store_constant(into, value_slot.value, bytes);
  } else if (opcode == Opcode::v128_store) {
    as_.movups(into, xmm(value));
  } else if (opcode == Opcode::f32_store) {
    as_.movss(into, xmm(value));
  } else if (opcode == Opcode::f64_store) {
    as_.movsd(into, xmm(value));
  } else if (bytes == 1) {
    as_.mov(into, x86::gpb(value));
  } else if (bytes == 2) {
    as_.mov(into, x86::gpw(value));
  } else if (bytes == 4) {
    as_.mov(into, gp32(value));
  } else {
    as_.mov(into, gp64(value));
  }
  values_.unpin();
}

void Compiler::store_constant(const x86::Mem& into, std::int32_t value, std::uint32_t bytes) {
  if (bytes == 1) {
    as_.mov(into, static_cast<std::int8_t>(value));
  } else if (bytes == 2) {
    as_.mov(into, static_cast<std::int16_t>(value));
  } else {
    as_.mov(into, value);  // 8 bytes: extended by its sign
  }
}

void Compiler::memory_size(std::uint32_t memory) {
  values_.settle_flags();
  const bool is_64 = checker_->module().memories[memory].limits.is_64;
  const Register into = values_.allocate(false);
  load_memory_view(into, memory);
  as_.mov(gp64(into), x86::ptr(gp64(into), offsetof(MemoryView, bytes)));
  as_.shr(gp64(into), 16);
  push_number(is_64 ? Kind::i64 : Kind::i32, into);
}

void Compiler::memory_grow(std::uint32_t memory) {
  values_.settle_flags();
  const bool is_64 = checker_->module().memories[memory].limits.is_64;
  const Slot pages = values_.pop();
  values_.spill_registers();
  ParallelMoves moves(as_, values_);
  moves.add(rdx, pages);
  moves.emit();
  if (!is_64) as_.mov(x86::edx, x86::edx);
  as_.mov(x86::esi, memory);
  values_.unpin();
  call_builtin(offsetof(Builtins, memory_grow));
  push_number(is_64 ? Kind::i64 : Kind::i32, rax);
}

}  // namespace plimsoll::wasm::baseline
