// Where functions begin and end: frame, stack limit, parameters, results, traps.
#include <fmt/format.h>

#include <cstring>

#include "plimsoll/error.h"
#include "wasm/baseline/x64/compiler.h"

namespace plimsoll::wasm::baseline {

Compiler::Compiler(CompileSettings settings) : settings_(settings), values_(as_) {}

void Compiler::ThrowingHandler::handleError(asmjit::Error /*error*/, const char* message,
                                            asmjit::BaseEmitter* /*emitter*/) {
  fail_internal(fmt::format("the assembler refused an instruction of the compiler: {}", message));
}

void Compiler::not_implemented(std::string_view what) const {
  fail_unsupported(fmt::format("at byte {}: the baseline compiler does not know {}",
                               checker_->instruction_offset(), what));
}

void Compiler::begin_function(const BodyChecker& checker, std::uint32_t function) {
  holder_.reset();
  holder_.init(asmjit::Environment(asmjit::Arch::kX64));
  holder_.setErrorHandler(&errors_);
  holder_.attach(&as_);
  values_.reset();
  blocks_.clear();
  sites_.clear();
  traps_.clear();
  tables_.clear();
  frame_patches_.clear();
  checker_ = &checker;
  function_ = function;
  const ControlFrame& frame = checker.frame(0);
  for (const ValueType local : checker.locals()) values_.add_local(local.kind());
  values_.begin_stack();
  Block& outermost = push_block(frame, 0);
  outermost.base = values_.size();
  emit_prologue(checker.module().functions[function].type);
}

x86::Mem Compiler::area_cell(Register store, std::size_t index) const {
  return x86::ptr(gp64(store),
                  static_cast<std::int32_t>(offsetof(StoreContext, area) + index * sizeof(Cell)));
}

void Compiler::emit_prologue(std::uint32_t type) {
  as_.push(x86::rbp);
  as_.mov(x86::rbp, x86::rsp);
  // The frame's size is known at the end: both numbers are written then.
  as_.long_().lea(x86::r10, x86::ptr(x86::rsp, -0x7FFFFFF0));
  frame_patches_.push_back(as_.offset() - 4);
  as_.mov(x86::r11, context_field(offsetof(InstanceContext, store)));
  as_.cmp(x86::r10, x86::ptr(x86::r11, offsetof(StoreContext, stack_limit)));
  as_.jb(trap_label(TrapKind::stack_overflow));
  as_.mov(x86::rsp, x86::r10);
  as_.mov(x86::qword_ptr(x86::rbp, -8), x86::r12);
  if (has_memory()) {
    as_.mov(x86::rbx, context_field(offsetof(InstanceContext, memory0)));
    as_.mov(x86::rbx, x86::ptr(x86::rbx, offsetof(MemoryView, base)));
  }
  const auto parameters = checker_->module().types.parameters(type);
  std::size_t numbers = 0;
  std::size_t vectors = 0;
  std::size_t further = 0;
  for (std::uint32_t index = 0; index < values_.locals(); ++index) {
    Slot slot = values_[index];
    slot.is_clean = false;
    const bool vector_class = slot.is_vector_class();
    const bool is_parameter = index < parameters.size();
    if (!is_parameter) {
      slot.place = Place::constant;
      slot.value = 0;
    } else if (vector_class ? vectors < vector_parameters.size()
                            : numbers < number_parameters.size()) {
      slot.place = Place::in_register;
      slot.in = vector_class ? vector_parameters[vectors++] : number_parameters[numbers++];
    } else {
      // r11 is the store's context still.
      as_.movups(xmm(vector_scratch), area_cell(r11, further++));
      if (slot.kind == ValueType::Kind::v128) {
        as_.movups(ValueStack::home_of(slot), xmm(vector_scratch));
      } else {
        as_.movsd(ValueStack::home_of(slot), xmm(vector_scratch));
      }
      continue;
    }
    if (index < values_.cached_locals()) {
      values_.set_place(index, slot);
    } else {
      values_.store(slot, slot.home);
    }
  }
}

void Compiler::reload_context() {
  as_.mov(x86::r12, x86::qword_ptr(x86::rbp, -8));
  if (has_memory()) {
    as_.mov(x86::rbx, context_field(offsetof(InstanceContext, memory0)));
    as_.mov(x86::rbx, x86::ptr(x86::rbx, offsetof(MemoryView, base)));
  }
}

void Compiler::emit_return() {
  // Results lie on top of the stack; where they lie does not change.
  const Block& outermost = blocks_.front();
  const std::uint32_t first = values_.size() - outermost.arity;
  ParallelMoves moves(as_, values_);
  bool has_number = false;
  bool has_vector = false;
  std::size_t further = 0;
  for (std::uint32_t index = first; index < values_.size(); ++index) {
    const Slot& slot = values_[index];
    bool& taken = slot.is_vector_class() ? has_vector : has_number;
    if (!taken) {
      taken = true;
      moves.add(slot.is_vector_class() ? xmm0 : rax, slot);
      continue;
    }
    // Beyond one of each class: through the area. Nothing is lost: the scratch registers serve.
    if (slot.kind == ValueType::Kind::v128) {
      values_.load(vector_scratch, slot);
      as_.mov(x86::r11, context_field(offsetof(InstanceContext, store)));
      as_.movups(area_cell(r11, further++), xmm(vector_scratch));
    } else if (slot.is_vector_class()) {
      values_.load(vector_scratch, slot);
      as_.mov(x86::r11, context_field(offsetof(InstanceContext, store)));
      as_.movsd(area_cell(r11, further++), xmm(vector_scratch));
    } else {
      values_.load(scratch, slot);
      as_.movq(xmm(vector_scratch), gp64(scratch));
      as_.mov(x86::r11, context_field(offsetof(InstanceContext, store)));
      as_.movsd(area_cell(r11, further++), xmm(vector_scratch));
    }
  }
  moves.emit();
  as_.leave();
  as_.ret();
}

asmjit::Label Compiler::trap_label(TrapKind kind) {
  for (const auto& [known, label] : traps_) {
    if (known == kind) return label;
  }
  traps_.emplace_back(kind, as_.newLabel());
  return traps_.back().second;
}

void Compiler::mark_site(TrapKind kind) {
  sites_.add(static_cast<std::uint32_t>(as_.offset()), static_cast<std::uint8_t>(kind));
}

void Compiler::emit_trap_tails() {
  for (const auto& [kind, label] : traps_) {
    as_.bind(label);
    mark_site(kind);
    as_.ud2();
  }
  for (const PendingTable& table : tables_) {
    as_.align(asmjit::AlignMode::kData, 4);
    as_.bind(table.begin);
    for (const asmjit::Label& target : table.targets) as_.embedLabelDelta(target, table.begin, 4);
  }
}

void Compiler::patch_frame_size() {
  // Calls find rsp on a multiple of 16: after push rbp it is one.
  const std::int32_t bytes = -static_cast<std::int32_t>((values_.frame_bytes() + 15) / 16 * 16);
  std::uint8_t* code = holder_.sectionById(0)->buffer().data();
  for (const std::size_t at : frame_patches_) std::memcpy(code + at, &bytes, sizeof bytes);
}

void Compiler::end_function() {
  emit_trap_tails();
  patch_frame_size();
  holder_.flatten();
  holder_.resolveUnresolvedLinks();
}

std::span<const std::byte> Compiler::code() {
  const asmjit::CodeBuffer& buffer = holder_.sectionById(0)->buffer();
  return {reinterpret_cast<const std::byte*>(buffer.data()), buffer.size()};
}

}  // namespace plimsoll::wasm::baseline
