// Moves that happen at once. Why it exists: arguments and merges move many values between registers
// that are each other's sources; done in a wrong order one would be lost. May touch: value_stack.h.
#pragma once

#include <array>

#include "wasm/baseline/x64/value_stack.h"

namespace plimsoll::wasm::baseline {

/// Collects what each register shall hold, then emits it: registers first, cycles broken through
/// the scratch registers, then what comes from memory and constants. Does not change the flags.
class ParallelMoves {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the arrays are set as they are used
  ParallelMoves(x86::Assembler& assembler, ValueStack& values)
      : assembler_(assembler), values_(values) {}

  void add(Register into, const Slot& from) {
    if (from.place != Place::in_register) {
      loads_[load_count_] = from;
      load_into_[load_count_++] = into;
    } else if (from.in != into) {
      sources_[into] = from.in;
      pending_ |= bit(into);
    }
  }
  /// Nothing would be emitted.
  [[nodiscard]] bool is_empty() const noexcept { return pending_ == 0 && load_count_ == 0; }
  void emit();

 private:
  void emit_moves();
  void move(Register into, Register from);

  x86::Assembler& assembler_;
  ValueStack& values_;
  // Only what `pending_` and `load_count_` tell of is set: most merges move nothing.
  RegisterSet pending_ = 0;           ///< destinations of moves
  std::array<Register, 32> sources_;  ///< by destination
  std::array<Slot, 32> loads_;
  std::array<Register, 32> load_into_;
  std::size_t load_count_ = 0;
};

}  // namespace plimsoll::wasm::baseline
