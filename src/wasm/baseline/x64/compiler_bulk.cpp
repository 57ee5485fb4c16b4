// Bulk memory, tables and segments: the runtime does them, called as C functions.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {
namespace {

using Kind = ValueType::Kind;

constexpr std::array<Register, 5> c_parameters = {rsi, rdx, rcx, r8, r9};

/// Two indices in one argument.
constexpr std::int64_t pair(std::uint32_t high, std::uint32_t low) {
  return static_cast<std::int64_t>(std::uint64_t{high} << 32U | low);
}

}  // namespace

/// Calls a part of the runtime: after the context a number, then values popped in this order.
/// Everything that lives on goes to memory; i32 values are extended without sign.
void Compiler::call_runtime(std::size_t builtin, std::int64_t first, std::span<const Slot> values) {
  values_.spill_registers();
  ParallelMoves moves(as_, values_);
  for (std::size_t index = 0; index < values.size(); ++index) {
    moves.add(c_parameters[index + 1], values[index]);
  }
  moves.emit();
  for (std::size_t index = 0; index < values.size(); ++index) {
    if (values[index].kind != Kind::i32) continue;
    const x86::Gp narrow = gp32(c_parameters[index + 1]);
    as_.mov(narrow, narrow);
  }
  as_.mov(x86::rsi, first);
  values_.unpin();
  call_builtin(builtin);
}

void Compiler::call_runtime_or_trap(std::size_t builtin, std::int64_t first,
                                    std::span<const Slot> values) {
  call_runtime(builtin, first, values);
  as_.test(x86::rax, x86::rax);
  as_.jnz(trap_label(TrapKind::recorded));
}

std::array<Slot, 3> Compiler::pop_three() {
  values_.settle_flags();
  std::array<Slot, 3> popped;
  for (std::size_t index = popped.size(); index-- > 0;) popped[index] = values_.pop();
  return popped;
}

void Compiler::memory_fill(std::uint32_t memory) {
  call_runtime_or_trap(offsetof(Builtins, memory_fill), memory, pop_three());
}

void Compiler::memory_copy(std::uint32_t destination, std::uint32_t source) {
  call_runtime_or_trap(offsetof(Builtins, memory_copy), pair(destination, source), pop_three());
}

void Compiler::memory_init(std::uint32_t memory, std::uint32_t segment) {
  call_runtime_or_trap(offsetof(Builtins, memory_init), pair(memory, segment), pop_three());
}

void Compiler::data_drop(std::uint32_t segment) {
  values_.settle_flags();
  call_runtime(offsetof(Builtins, data_drop), segment, {});
}

void Compiler::elem_drop(std::uint32_t segment) {
  values_.settle_flags();
  call_runtime(offsetof(Builtins, elem_drop), segment, {});
}

void Compiler::table_fill(std::uint32_t table) {
  call_runtime_or_trap(offsetof(Builtins, table_fill), table, pop_three());
}

void Compiler::table_copy(std::uint32_t destination, std::uint32_t source) {
  call_runtime_or_trap(offsetof(Builtins, table_copy), pair(destination, source), pop_three());
}

void Compiler::table_init(std::uint32_t table, std::uint32_t segment) {
  call_runtime_or_trap(offsetof(Builtins, table_init), pair(table, segment), pop_three());
}

void Compiler::table_grow(std::uint32_t table) {
  values_.settle_flags();
  std::array<Slot, 2> values;
  values[1] = values_.pop();
  values[0] = values_.pop();
  call_runtime(offsetof(Builtins, table_grow), table, values);
  const bool is_64 = checker_->module().tables[table].type.limits.is_64;
  push_number(is_64 ? Kind::i64 : Kind::i32, rax);
}

void Compiler::load_table_view(Register into, std::uint32_t table) {
  as_.mov(gp64(into), context_field(offsetof(InstanceContext, tables)));
  as_.mov(gp64(into), x86::ptr(gp64(into), static_cast<std::int32_t>(table * 8)));
}

void Compiler::table_size(std::uint32_t table) {
  values_.settle_flags();
  const Register into = values_.allocate(false);
  load_table_view(into, table);
  as_.mov(gp64(into), x86::ptr(gp64(into), offsetof(TableView, size)));
  const bool is_64 = checker_->module().tables[table].type.limits.is_64;
  push_number(is_64 ? Kind::i64 : Kind::i32, into);
}

/// The address of an element; the scratch register is part of it.
x86::Mem Compiler::table_element(const Slot& index, Register view, std::uint32_t table) {
  const bool is_64 = checker_->module().tables[table].type.limits.is_64;
  if (!is_64 && index.place == Place::in_register) {
    as_.mov(gp32(scratch), gp32(index.in));
  } else {
    values_.load(scratch, index);
  }
  load_table_view(view, table);
  as_.cmp(gp64(scratch), x86::ptr(gp64(view), offsetof(TableView, size)));
  as_.jae(trap_label(TrapKind::table_out_of_bounds));
  as_.mov(gp64(view), x86::ptr(gp64(view), offsetof(TableView, elements)));
  return x86::qword_ptr(gp64(view), gp64(scratch), 3);
}

void Compiler::table_get(std::uint32_t table) {
  values_.settle_flags();
  const Slot index = values_.pop();
  const Register into = values_.allocate(false);
  as_.mov(gp64(into), table_element(index, into, table));
  push_number(Kind::reference, into);
}

void Compiler::table_set(std::uint32_t table) {
  values_.settle_flags();
  const Register value = in_read_register(values_.pop());
  const Slot index = values_.pop();
  const Register view = values_.allocate(false);
  as_.mov(table_element(index, view, table), gp64(value));
  values_.unpin();
}

}  // namespace plimsoll::wasm::baseline
