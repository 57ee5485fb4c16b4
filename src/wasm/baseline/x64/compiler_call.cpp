// Calls: docs/guest-abi.md, rules 1 and 2.
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

using Kind = ValueType::Kind;

Compiler::Arguments Compiler::pop_arguments(std::uint32_t type) {
  Arguments arguments;
  arguments.type = type;
  arguments.slots.resize(checker_->module().types.parameters(type).size());
  for (std::size_t index = arguments.slots.size(); index-- > 0;) {
    arguments.slots[index] = values_.pop();
  }
  return arguments;
}

/// Everything that lives on is in memory by now.
void Compiler::place_arguments(const Arguments& arguments) {
  ParallelMoves moves(as_, values_);
  std::size_t numbers = 0;
  std::size_t vectors = 0;
  std::size_t further = 0;
  for (const Slot& slot : arguments.slots) {
    const bool vector_class = slot.is_vector_class();
    if (vector_class ? vectors < vector_parameters.size() : numbers < number_parameters.size()) {
      moves.add(vector_class ? vector_parameters[vectors++] : number_parameters[numbers++], slot);
      continue;
    }
    // Through the area, first: sources are all where they were.
    if (vector_class) {
      values_.load(vector_scratch, slot);
    } else {
      values_.load(scratch, slot);
      as_.movq(xmm(vector_scratch), gp64(scratch));
    }
    as_.mov(gp64(scratch), context_field(offsetof(InstanceContext, store)));
    as_.movups(area_cell(scratch, further++), xmm(vector_scratch));
  }
  moves.emit();
  values_.unpin();
}

void Compiler::push_results(std::uint32_t type) {
  bool has_number = false;
  bool has_vector = false;
  std::size_t further = 0;
  for (const ValueType result : checker_->module().types.results(type)) {
    Slot slot;
    slot.kind = result.kind();
    bool& taken = slot.is_vector_class() ? has_vector : has_number;
    if (!taken) {
      taken = true;
      values_.push_register(result.kind(), slot.is_vector_class() ? xmm0 : rax);
      continue;
    }
    values_.push_memory(result.kind());
    const Slot pushed = values_.top();
    as_.mov(gp64(scratch), context_field(offsetof(InstanceContext, store)));
    as_.movups(xmm(vector_scratch), area_cell(scratch, further++));
    if (result.kind() == Kind::v128) {
      as_.movups(ValueStack::home_of(pushed), xmm(vector_scratch));
    } else {
      as_.movsd(ValueStack::home_of(pushed), xmm(vector_scratch));
    }
  }
}

void Compiler::finish_call(bool is_tail, std::uint32_t type) {
  // r11 holds the address of the slot of the callee's code.
  if (is_tail) {
    as_.leave();
    as_.jmp(x86::qword_ptr(x86::r11));
    return;
  }
  as_.call(x86::qword_ptr(x86::r11));
  reload_context();
  push_results(type);
}

void Compiler::call(std::uint32_t function, bool is_tail) {
  values_.settle_flags();
  const Module& module = checker_->module();
  const std::uint32_t type = module.functions[function].type;
  const Arguments arguments = pop_arguments(type);
  values_.spill_registers();
  place_arguments(arguments);
  if (function < module.imported_functions) {
    as_.mov(x86::r11, context_field(offsetof(InstanceContext, functions)));
    as_.mov(x86::r11, x86::ptr(x86::r11, static_cast<std::int32_t>(function * 8)));
    as_.mov(x86::r12, x86::ptr(x86::r11, offsetof(FunctionRecord, context)));
    as_.mov(x86::r11, x86::ptr(x86::r11, offsetof(FunctionRecord, slot)));
    finish_call(is_tail, type);
    return;
  }
  as_.mov(x86::r11, context_field(offsetof(InstanceContext, code_table)));
  const x86::Mem slot = x86::qword_ptr(x86::r11, static_cast<std::int32_t>(function * 8));
  if (is_tail) {
    as_.leave();
    as_.jmp(slot);
    return;
  }
  as_.call(slot);
  // The same instance: only what its callee may have moved.
  reload_context();
  push_results(type);
}

/// Finding the callee needs registers: many arguments must not hold all of them.
void Compiler::leave_room_for_arguments(std::uint32_t type) {
  constexpr std::size_t most_in_registers = 5;
  if (checker_->module().types.parameters(type).size() > most_in_registers) {
    values_.spill_registers();
  }
}

void Compiler::call_indirect(std::uint32_t type, std::uint32_t table, bool is_tail) {
  values_.settle_flags();
  const bool is_64 = checker_->module().tables[table].type.limits.is_64;
  leave_room_for_arguments(type);
  const Slot index = values_.pop();
  const Arguments arguments = pop_arguments(type);
  values_.spill_registers();
  const Register record = values_.allocate(false);
  const Register view = values_.allocate(false);
  as_.mov(gp64(view), context_field(offsetof(InstanceContext, tables)));
  as_.mov(gp64(view), x86::ptr(gp64(view), static_cast<std::int32_t>(table * 8)));
  Slot wanted = index;
  wanted.kind = is_64 ? Kind::i64 : Kind::i32;
  if (!is_64 && wanted.place == Place::in_register) {
    as_.mov(gp32(scratch), gp32(wanted.in));
  } else {
    values_.load(scratch, wanted);
  }
  as_.cmp(gp64(scratch), x86::ptr(gp64(view), offsetof(TableView, size)));
  as_.jae(trap_label(TrapKind::undefined_element));
  as_.mov(gp64(view), x86::ptr(gp64(view), offsetof(TableView, elements)));
  as_.mov(gp64(record), x86::ptr(gp64(view), gp64(scratch), 3));
  as_.test(gp64(record), gp64(record));
  as_.jz(trap_label(TrapKind::uninitialized_element));
  check_signature(record, view, type);
  call_record(record, type, is_tail, arguments);
}

/// The callee's type is the one wanted, or below it.
void Compiler::check_signature(Register record, Register temporary, std::uint32_t type) {
  const FunctionType& wanted = checker_->module().types[type];
  as_.mov(gp64(scratch), context_field(offsetof(InstanceContext, types)));
  as_.mov(gp32(scratch), x86::ptr(gp64(scratch), static_cast<std::int32_t>(type * 4)));
  if (wanted.is_final) {
    as_.cmp(gp32(scratch), x86::ptr(gp64(record), offsetof(FunctionRecord, type)));
    as_.jne(trap_label(TrapKind::indirect_call_type_mismatch));
    return;
  }
  as_.cmp(x86::dword_ptr(gp64(record), offsetof(FunctionRecord, depth)), wanted.depth);
  as_.jb(trap_label(TrapKind::indirect_call_type_mismatch));
  as_.mov(gp64(temporary), x86::ptr(gp64(record), offsetof(FunctionRecord, supertypes)));
  as_.cmp(gp32(scratch), x86::ptr(gp64(temporary), static_cast<std::int32_t>(wanted.depth * 4)));
  as_.jne(trap_label(TrapKind::indirect_call_type_mismatch));
}

void Compiler::call_ref(std::uint32_t type, bool is_tail) {
  values_.settle_flags();
  leave_room_for_arguments(type);
  const Slot reference = values_.pop();
  const Arguments arguments = pop_arguments(type);
  values_.spill_registers();
  const Register record = in_read_register(reference);
  as_.test(gp64(record), gp64(record));
  as_.jz(trap_label(TrapKind::null_function_reference));
  call_record(record, type, is_tail, arguments);
}

void Compiler::call_record(Register record, std::uint32_t type, bool is_tail,
                           const Arguments& arguments) {
  // Arguments overwrite any register but these: the record waits in rbx, which is reloaded anyway.
  as_.mov(x86::rbx, gp64(record));
  place_arguments(arguments);
  as_.mov(x86::r12, x86::ptr(x86::rbx, offsetof(FunctionRecord, context)));
  as_.mov(x86::r11, x86::ptr(x86::rbx, offsetof(FunctionRecord, slot)));
  finish_call(is_tail, type);
}

/// Calls a part of the runtime: rdi is the context, the rest is in place. All is in memory.
void Compiler::call_builtin(std::size_t builtin) {
  as_.mov(x86::rdi, x86::r12);
  as_.mov(x86::r11, context_field(offsetof(InstanceContext, builtins)));
  as_.call(x86::qword_ptr(x86::r11, static_cast<std::int32_t>(builtin)));
  reload_context();
}

}  // namespace plimsoll::wasm::baseline
