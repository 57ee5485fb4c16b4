// Atomic access. Loads are plain moves and stores exchanges: the machine's order is strong enough.
// The address must be a multiple of the size.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {
namespace {

using Kind = ValueType::Kind;

constexpr std::uint32_t number_of(Opcode opcode) {
  return static_cast<std::uint32_t>(opcode);
}
constexpr std::uint32_t first_update = number_of(Opcode::i32_atomic_rmw_add);
constexpr std::uint32_t widths = 7;  ///< of each kind of update, in the order of the opcodes

/// In the order of the opcodes.
enum class Update : std::uint8_t {
  add,
  subtract,
  conjunction,
  disjunction,
  exclusive,
  exchange,
  compare
};

Kind kind_of(std::uint8_t kind) {
  return static_cast<Kind>(kind);
}

}  // namespace

void Compiler::atomic_fence() {
  values_.settle_flags();
  as_.mfence();
}

/// As address(), with the check of alignment. The scratch register is part of the operand.
x86::Mem Compiler::aligned_address(const Slot& index, const MemoryArgument& argument,
                                   std::uint32_t bytes) {
  const x86::Mem operand = address(index, argument, bytes, true);
  if (bytes > 1) {
    // Index and offset, and the size too where bounds are compared: the remainder is the same.
    as_.test(gp32(scratch), bytes - 1);
    as_.jnz(trap_label(TrapKind::unaligned_atomic));
  }
  return sized(operand, bytes);
}

x86::Gp Compiler::sized_register(Register one, std::uint32_t bytes) {
  switch (bytes) {
    case 1:
      return x86::gpb(one);
    case 2:
      return x86::gpw(one);
    case 4:
      return gp32(one);
    default:
      return gp64(one);
  }
}

/// Without sign, from a size to all of the register. 32 bits are extended by whatever wrote them.
void Compiler::extend_unsigned(Register one, std::uint32_t bytes) {
  if (bytes == 1) as_.movzx(gp32(one), x86::gpb(one));
  if (bytes == 2) as_.movzx(gp32(one), x86::gpw(one));
}

void Compiler::atomic(Opcode opcode, const MemoryArgument& argument) {
  values_.settle_flags();
  const OpcodeInfo& info = opcode_table[number_of(opcode)];
  const std::uint32_t bytes = 1U << info.extra;
  if (number_of(opcode) < number_of(Opcode::i32_atomic_load)) {
    wait_or_notify(opcode, argument);
  } else if (number_of(opcode) < number_of(Opcode::i32_atomic_store)) {
    const Slot index = values_.pop();
    const Register into = values_.allocate(false);
    const x86::Mem from = aligned_address(index, argument, bytes);
    mark_site(TrapKind::memory_out_of_bounds);
    if (bytes < 4) {
      as_.movzx(gp32(into), from);
    } else {
      as_.mov(sized_register(into, bytes), from);
    }
    push_number(kind_of(info.result), into);
  } else if (number_of(opcode) < first_update) {
    const Register value = in_changeable_register(values_.pop());
    const Slot index = values_.pop();
    const x86::Mem into = aligned_address(index, argument, bytes);
    mark_site(TrapKind::memory_out_of_bounds);
    as_.xchg(into, sized_register(value, bytes));
    values_.unpin();
  } else {
    update(opcode, argument);
  }
}

void Compiler::update(Opcode opcode, const MemoryArgument& argument) {
  const OpcodeInfo& info = opcode_table[number_of(opcode)];
  const std::uint32_t bytes = 1U << info.extra;
  const Kind kind = kind_of(info.result);
  const auto what = static_cast<Update>((number_of(opcode) - first_update) / widths);
  if (what == Update::compare) {
    compare_exchange(argument, bytes, kind);
    return;
  }
  if (what == Update::conjunction || what == Update::disjunction || what == Update::exclusive) {
    update_by_loop(opcode, argument, bytes, kind);
    return;
  }
  const Register value = in_changeable_register(values_.pop());
  const Slot index = values_.pop();
  const x86::Mem into = aligned_address(index, argument, bytes);
  if (what == Update::exchange) {
    mark_site(TrapKind::memory_out_of_bounds);
    as_.xchg(into, sized_register(value, bytes));
  } else {
    if (what == Update::subtract) as_.neg(gp64(value));
    mark_site(TrapKind::memory_out_of_bounds);
    as_.lock().xadd(into, sized_register(value, bytes));
  }
  extend_unsigned(value, bytes);
  push_number(kind, value);
}

/// Read, compute, and write unless somebody else has written meanwhile.
void Compiler::update_by_loop(Opcode opcode, const MemoryArgument& argument, std::uint32_t bytes,
                              ValueType::Kind kind) {
  const auto what = static_cast<Update>((number_of(opcode) - first_update) / widths);
  values_.pin(rax);
  const Slot value_slot = values_.pop();
  const Slot index = values_.pop();
  // rax will hold the old value: neither operand may be there.
  Slot moved_index = move_out_of_rax(index);
  const Register value = in_read_register(move_out_of_rax(value_slot));
  values_.claim(rax);
  const Register next = values_.allocate(false);
  const x86::Mem into = aligned_address(moved_index, argument, bytes);
  mark_site(TrapKind::memory_out_of_bounds);
  as_.mov(sized_register(rax, bytes), into);
  const asmjit::Label again = as_.newLabel();
  as_.bind(again);
  as_.mov(gp64(next), x86::rax);
  if (what == Update::conjunction) {
    as_.and_(gp64(next), gp64(value));
  } else if (what == Update::disjunction) {
    as_.or_(gp64(next), gp64(value));
  } else {
    as_.xor_(gp64(next), gp64(value));
  }
  mark_site(TrapKind::memory_out_of_bounds);
  as_.lock().cmpxchg(into, sized_register(next, bytes));
  as_.jne(again);
  extend_unsigned(rax, bytes);
  push_number(kind, rax);
}

/// The same value in another register where it is in rax.
Slot Compiler::move_out_of_rax(const Slot& slot) {
  if (slot.place != Place::in_register || slot.in != rax) return slot;
  Slot moved = slot;
  moved.in = values_.allocate(false);
  as_.mov(gp64(moved.in), x86::rax);
  return moved;
}

void Compiler::compare_exchange(const MemoryArgument& argument, std::uint32_t bytes,
                                ValueType::Kind kind) {
  const Slot replacement_slot = values_.pop();
  const Slot expected = values_.pop();
  values_.pin(rax);
  const Slot index = move_out_of_rax(values_.pop());
  const Register replacement = in_read_register(move_out_of_rax(replacement_slot));
  values_.claim(rax);
  values_.load(rax, expected);
  const std::uint32_t width = kind == Kind::i64 ? 8 : 4;
  const x86::Mem into = aligned_address(index, argument, bytes);
  if (bytes == width) {
    mark_site(TrapKind::memory_out_of_bounds);
    as_.lock().cmpxchg(into, sized_register(replacement, bytes));
    push_number(kind, rax);
    return;
  }
  // A narrow one is compared in full width: bits beyond its own are never found in memory.
  const Register narrow = values_.allocate(false);
  const asmjit::Label differs = as_.newLabel();
  const asmjit::Label done = as_.newLabel();
  as_.mov(gp32(narrow), x86::eax);
  extend_unsigned(narrow, bytes);
  as_.cmp(width == 8 ? gp64(narrow) : gp32(narrow), width == 8 ? gp64(rax) : gp32(rax));
  as_.jne(differs);
  mark_site(TrapKind::memory_out_of_bounds);
  as_.lock().cmpxchg(into, sized_register(replacement, bytes));
  as_.jmp(done);
  as_.bind(differs);
  mark_site(TrapKind::memory_out_of_bounds);
  as_.mov(sized_register(rax, bytes), into);
  as_.bind(done);
  if (bytes == 4) {
    as_.mov(x86::eax, x86::eax);  // cmpxchg leaves the upper half where it succeeds
  } else {
    extend_unsigned(rax, bytes);
  }
  push_number(kind, rax);
}

/// The runtime checks bounds and alignment.
void Compiler::wait_or_notify(Opcode opcode, const MemoryArgument& argument) {
  std::vector<Slot> operands(opcode == Opcode::memory_atomic_notify ? 2 : 3);
  for (std::size_t index = operands.size(); index-- > 0;) operands[index] = values_.pop();
  Slot offset;
  offset.kind = Kind::i64;
  if (argument.offset <= INT32_MAX) {
    offset.place = Place::constant;
    offset.value = static_cast<std::int32_t>(argument.offset);
  } else {
    offset.place = Place::in_register;
    offset.in = values_.allocate(false);
    as_.mov(gp64(offset.in), argument.offset);
  }
  operands.insert(operands.begin() + 1, offset);
  const std::size_t builtin =
      opcode == Opcode::memory_atomic_notify   ? offsetof(Builtins, memory_notify)
      : opcode == Opcode::memory_atomic_wait32 ? offsetof(Builtins, memory_wait32)
                                               : offsetof(Builtins, memory_wait64);
  call_runtime(builtin, argument.memory, operands);
  as_.test(x86::rax, x86::rax);
  as_.js(trap_label(TrapKind::recorded));
  push_number(Kind::i32, rax);
}

}  // namespace plimsoll::wasm::baseline
