#include "wasm/runtime/stubs.h"

#include <asmjit/x86.h>

#include <array>
#include <utility>

#include "wasm/runtime/trap.h"

namespace plimsoll::wasm {
namespace {

namespace x86 = asmjit::x86;

const std::array<x86::Gp, CallFrame::number_registers> number_parameters = {
    x86::r13, x86::r14, x86::r15, x86::rdi, x86::rsi, x86::rdx, x86::rcx, x86::r8};

x86::Mem number(const x86::Gp& frame, std::size_t index) {
  return x86::qword_ptr(frame, static_cast<std::int32_t>(offsetof(CallFrame, numbers) + index * 8));
}
x86::Mem vector(const x86::Gp& frame, std::size_t index) {
  return x86::ptr(frame,
                  static_cast<std::int32_t>(offsetof(CallFrame, vectors) + index * sizeof(Cell)));
}

struct Offsets {
  std::size_t trap_exit = 0;
  std::size_t host_call = 0;
  std::size_t host_trap = 0;
};

/// rdi: frame, rsi: code, rdx: context, rcx: activation.
void emit_enter(x86::Assembler& as, Offsets& offsets) {
  as.push(x86::rbp);
  as.mov(x86::rbp, x86::rsp);
  for (const x86::Gp& kept : {x86::rbx, x86::r12, x86::r13, x86::r14, x86::r15}) as.push(kept);
  as.push(x86::rdi);  // rbp − 48; rsp is a multiple of 16 now
  as.mov(x86::ptr(x86::rcx, offsetof(Activation, stack_pointer)), x86::rsp);
  as.mov(x86::ptr(x86::rcx, offsetof(Activation, frame_pointer)), x86::rbp);
  as.mov(x86::r12, x86::rdx);
  as.mov(x86::r11, x86::rsi);
  as.mov(x86::rax, x86::rdi);
  for (std::size_t index = 0; index < CallFrame::number_registers; ++index) {
    as.mov(number_parameters[index], number(x86::rax, index));
  }
  for (std::size_t index = 0; index < CallFrame::vector_registers; ++index) {
    as.movups(x86::xmm(static_cast<std::uint32_t>(index)), vector(x86::rax, index));
  }
  as.call(x86::r11);
  as.mov(x86::r11, x86::qword_ptr(x86::rbp, -48));
  as.mov(x86::qword_ptr(x86::r11, offsetof(CallFrame, number_result)), x86::rax);
  as.movups(x86::ptr(x86::r11, offsetof(CallFrame, vector_result)), x86::xmm0);
  as.xor_(x86::eax, x86::eax);
  const asmjit::Label leave = as.newLabel();
  as.jmp(leave);
  offsets.trap_exit = as.offset();  // rsp and rbp are as saved above
  as.mov(x86::eax, 1);
  as.bind(leave);
  as.add(x86::rsp, 8);
  for (const x86::Gp& kept : {x86::r15, x86::r14, x86::r13, x86::r12, x86::rbx}) as.pop(kept);
  as.pop(x86::rbp);
  as.ret();
}

void emit_host_call(x86::Assembler& as, Offsets& offsets) {
  as.align(asmjit::AlignMode::kCode, 16);
  offsets.host_call = as.offset();
  static_assert(sizeof(CallFrame) % 16 == 0);
  as.push(x86::rbp);
  as.mov(x86::rbp, x86::rsp);
  as.sub(x86::rsp, sizeof(CallFrame));
  for (std::size_t index = 0; index < CallFrame::number_registers; ++index) {
    as.mov(number(x86::rsp, index), number_parameters[index]);
  }
  for (std::size_t index = 0; index < CallFrame::vector_registers; ++index) {
    as.movups(vector(x86::rsp, index), x86::xmm(static_cast<std::uint32_t>(index)));
  }
  as.mov(x86::rdi, x86::r12);
  as.mov(x86::rsi, x86::rsp);
  as.call(x86::qword_ptr(x86::r12, offsetof(HostContext, entry)));
  const asmjit::Label trapped = as.newLabel();
  as.test(x86::rax, x86::rax);
  as.jnz(trapped);
  as.mov(x86::rax, x86::qword_ptr(x86::rsp, offsetof(CallFrame, number_result)));
  as.movups(x86::xmm0, x86::ptr(x86::rsp, offsetof(CallFrame, vector_result)));
  as.leave();
  as.ret();
  as.bind(trapped);
  offsets.host_trap = as.offset();
  as.ud2();
}

}  // namespace

std::expected<std::unique_ptr<Stubs>, Refusal> Stubs::create(
    const std::shared_ptr<memory::Budget>& budget) {
  asmjit::CodeHolder holder;
  holder.init(asmjit::Environment(asmjit::Arch::kX64));
  x86::Assembler as(&holder);
  Offsets offsets;
  emit_enter(as, offsets);
  emit_host_call(as, offsets);
  holder.flatten();
  holder.resolveUnresolvedLinks();
  const asmjit::CodeBuffer& buffer = holder.sectionById(0)->buffer();
  auto memory = code::CodeMemory::create(budget, buffer.size());
  if (!memory) return std::unexpected(std::move(memory.error()));
  const auto base =
      (*memory)->add({reinterpret_cast<const std::byte*>(buffer.data()), buffer.size()});
  if (!base) return std::unexpected(base.error());
  std::unique_ptr<Stubs> stubs(new Stubs);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that came as a number
  stubs->enter_ = reinterpret_cast<Enter>(reinterpret_cast<std::uintptr_t>(*base));
  stubs->trap_exit_ = reinterpret_cast<std::uint64_t>(*base + offsets.trap_exit);
  stubs->host_call_ = *base + offsets.host_call;
  stubs->host_trap_ = *base + offsets.host_trap;
  stubs->range_ = std::make_unique<code::CodeRange>(*base, (*memory)->capacity(), *stubs);
  stubs->memory_ = std::move(*memory);
  return stubs;
}

int Stubs::trap_kind_at(const std::byte* address) const noexcept {
  return address == host_trap_ ? static_cast<int>(TrapKind::recorded) : -1;
}

}  // namespace plimsoll::wasm
