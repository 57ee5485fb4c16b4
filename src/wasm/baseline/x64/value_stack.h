// Locals and the operand stack, and which registers hold them. Why it exists: values are computed
// into registers and stay there until something needs the register; the frame is where they go
// then. May touch: slot.h, registers.h.
//
// Slots 0 … locals − 1 are the locals, above them the operand stack. Each has a home in the frame:
//
//   rbp →  | caller's rbp |
//          | context      |  rbp − 8
//          | home of 0    |  8 bytes each, 16 for a v128
//          | …            |
//
// A register may hold several slots (local.get shares the local's register), and is never changed
// while it does. Locals from `most_cached_locals` on always live in memory, and so do stack entries
// far below the top: what must be looked at for each branch stays small.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "wasm/baseline/x64/registers.h"

namespace plimsoll::wasm::baseline {

inline constexpr std::uint32_t most_cached_locals = 256;
inline constexpr std::uint32_t most_cached_stack = 96;

class ValueStack {
 public:
  explicit ValueStack(x86::Assembler& assembler) : assembler_(assembler) {}

  void reset();
  /// Appends a local, in memory; then the operand stack begins.
  void add_local(ValueType::Kind kind);
  void begin_stack();

  [[nodiscard]] std::uint32_t locals() const noexcept { return locals_; }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(slots_.size());
  }
  [[nodiscard]] const Slot& operator[](std::uint32_t index) const noexcept { return slots_[index]; }
  [[nodiscard]] const Slot& top() const noexcept { return slots_.back(); }
  [[nodiscard]] std::uint32_t frame_bytes() const noexcept { return frame_bytes_; }
  /// Slots that may be elsewhere than in memory: [0, cached locals) and [window, size).
  [[nodiscard]] std::uint32_t cached_locals() const noexcept {
    return locals_ < most_cached_locals ? locals_ : most_cached_locals;
  }
  [[nodiscard]] std::uint32_t window() const noexcept { return window_; }

  void push_register(ValueType::Kind kind, Register in);
  void push_constant(ValueType::Kind kind, std::int32_t value);
  void push_memory(ValueType::Kind kind);
  /// An i32 that is the outcome of the comparison just emitted.
  void push_flags(x86::CondCode condition);
  /// The same value as another slot.
  void push_copy(std::uint32_t index);
  /// Takes the top off. Its register stays pinned until unpin(): the caller reads it.
  Slot pop();
  void drop_to(std::uint32_t wanted);

  /// Changes where a slot is; register counts follow.
  void set_place(std::uint32_t index, const Slot& slot);

  /// A register of a class that holds nothing, made free where none is; pinned.
  [[nodiscard]] Register allocate(bool vector_class);
  /// The same, or `no_register` where none is free.
  [[nodiscard]] Register free_register(bool vector_class, RegisterSet not_these) const noexcept;
  /// Makes this one free and pins it. Slots in it move to another register or to memory.
  void claim(Register wanted);
  void pin(Register one) noexcept { pinned_ |= bit(one); }
  void unpin() noexcept { pinned_ = 0; }
  [[nodiscard]] bool is_unused(Register one) const noexcept { return users_[one] == 0; }

  /// Whatever is in registers goes home; constants stay.
  void spill_registers();
  void spill(std::uint32_t index);
  /// Turns flags on top into a number in a register.
  void settle_flags();
  /// Everything is in memory from now on, without code: where control cannot come from above.
  void forget_registers();

  // Code for single values; nothing changes here.
  void load(Register into, const Slot& from);
  void store(const Slot& from, std::uint32_t home);
  void copy_memory(const Slot& from, std::uint32_t home);
  [[nodiscard]] static x86::Mem home_of(const Slot& slot);
  [[nodiscard]] static x86::Mem at_home(std::uint32_t home);

 private:
  Slot& append(ValueType::Kind kind);
  void shrink_window();
  void release(const Slot& slot) noexcept;
  void spill_register(Register one);

  x86::Assembler& assembler_;
  std::vector<Slot> slots_;
  std::array<std::uint32_t, 32> users_{};
  RegisterSet pinned_ = 0;
  std::uint32_t locals_ = 0;
  std::uint32_t window_ = 0;
  std::uint32_t frame_bytes_ = 8;
  Register next_victim_ = 0;
};

}  // namespace plimsoll::wasm::baseline
