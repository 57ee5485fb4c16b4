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
  ParallelMoves(x86::Assembler& assembler, ValueStack& values)
      : assembler_(assembler), values_(values) {
    sources_.fill(no_register);
  }

  void add(Register into, const Slot& from) {
    if (from.place != Place::in_register) {
      loads_[load_count_] = from;
      load_into_[load_count_++] = into;
    } else if (from.in != into) {
      sources_[into] = from.in;
    }
  }
  /// Nothing would be emitted.
  [[nodiscard]] bool is_empty() const noexcept;
  void emit();

 private:
  void move(Register into, Register from);

  x86::Assembler& assembler_;
  ValueStack& values_;
  std::array<Register, 32> sources_{};  ///< by destination
  std::array<Slot, 32> loads_{};
  std::array<Register, 32> load_into_{};
  std::size_t load_count_ = 0;
};

}  // namespace plimsoll::wasm::baseline
