#include "wasm/baseline/x64/value_stack.h"

#include <algorithm>
#include <bit>

#include "plimsoll/error.h"

namespace plimsoll::wasm::baseline {

void ValueStack::reset() {
  slots_.clear();
  users_.fill(0);
  pinned_ = 0;
  locals_ = 0;
  window_ = 0;
  frame_bytes_ = 8;  // the context
  next_victim_ = 0;
}

Slot& ValueStack::append(ValueType::Kind kind) {
  Slot slot;
  slot.kind = kind;
  const std::uint32_t below = slots_.empty() ? 8 : slots_.back().home;
  slot.home = below + slot.size();
  frame_bytes_ = std::max(frame_bytes_, slot.home);
  slots_.push_back(slot);
  return slots_.back();
}

void ValueStack::add_local(ValueType::Kind kind) {
  append(kind);
}

void ValueStack::begin_stack() {
  locals_ = size();
  window_ = size();
}

void ValueStack::shrink_window() {
  // Far below the top: home, so that a branch has little to look at.
  if (size() - window_ <= most_cached_stack) return;
  const std::uint32_t end = size() - most_cached_stack / 2;
  for (; window_ < end; ++window_) spill(window_);
}

void ValueStack::push_register(ValueType::Kind kind, Register in) {
  Slot& slot = append(kind);
  slot.place = Place::in_register;
  slot.in = in;
  ++users_[in];
  shrink_window();
}

void ValueStack::push_constant(ValueType::Kind kind, std::int32_t value) {
  Slot& slot = append(kind);
  slot.place = Place::constant;
  slot.value = value;
  shrink_window();
}

void ValueStack::push_memory(ValueType::Kind kind) {
  append(kind);
  shrink_window();
}

void ValueStack::push_flags(x86::CondCode condition) {
  Slot& slot = append(ValueType::Kind::i32);
  slot.place = Place::flags;
  slot.value = static_cast<std::int32_t>(condition);
}

void ValueStack::push_copy(std::uint32_t index) {
  const Slot from = slots_[index];
  if (from.place == Place::constant) {
    push_constant(from.kind, from.value);
    return;
  }
  Register in = from.in;
  if (from.place == Place::memory) {
    in = allocate(from.is_vector_class());
    load(in, from);
    if (index < cached_locals()) {
      // The local is now in both places.
      slots_[index].place = Place::in_register;
      slots_[index].in = in;
      slots_[index].is_clean = true;
      ++users_[in];
    }
  }
  push_register(from.kind, in);
}

void ValueStack::release(const Slot& slot) noexcept {
  if (slot.place == Place::in_register) --users_[slot.in];
}

Slot ValueStack::pop() {
  const Slot slot = slots_.back();
  release(slot);
  if (slot.place == Place::in_register) pin(slot.in);
  slots_.pop_back();
  window_ = std::min(window_, size());
  return slot;
}

void ValueStack::drop_to(std::uint32_t wanted) {
  while (size() > wanted) {
    release(slots_.back());
    slots_.pop_back();
  }
  window_ = std::min(window_, size());
}

void ValueStack::set_place(std::uint32_t index, const Slot& slot) {
  Slot& mine = slots_[index];
  if (slot.place == Place::in_register) ++users_[slot.in];
  release(mine);
  mine.place = slot.place;
  mine.in = slot.in;
  mine.is_clean = slot.is_clean;
  mine.value = slot.value;
}

Register ValueStack::free_register(bool vector_class, RegisterSet not_these) const noexcept {
  RegisterSet candidates = (vector_class ? vector_registers : number_registers) & ~not_these;
  while (candidates != 0) {
    const auto one = static_cast<Register>(std::countr_zero(candidates));
    if (users_[one] == 0) return one;
    candidates &= candidates - 1;
  }
  return no_register;
}

Register ValueStack::allocate(bool vector_class) {
  Register one = free_register(vector_class, pinned_);
  if (one == no_register) {
    const RegisterSet all = (vector_class ? vector_registers : number_registers) & ~pinned_;
    if (all == 0) fail_internal("an instruction needs more registers than there are");
    do {
      next_victim_ = static_cast<Register>((next_victim_ + 1U) % 32U);
    } while ((all & bit(next_victim_)) == 0);
    one = next_victim_;
    spill_register(one);
  }
  pin(one);
  return one;
}

void ValueStack::claim(Register wanted) {
  if (users_[wanted] != 0) {
    const Register other = free_register(is_vector(wanted), pinned_ | bit(wanted));
    if (other == no_register) {
      spill_register(wanted);
    } else {
      if (is_vector(wanted)) {
        assembler_.movaps(xmm(other), xmm(wanted));
      } else {
        assembler_.mov(gp64(other), gp64(wanted));
      }
      const auto move_range = [&](std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t index = begin; index < end; ++index) {
          Slot& slot = slots_[index];
          if (slot.place == Place::in_register && slot.in == wanted) slot.in = other;
        }
      };
      move_range(0, cached_locals());
      move_range(window_, size());
      users_[other] = users_[wanted];
      users_[wanted] = 0;
    }
  }
  pin(wanted);
}

void ValueStack::spill(std::uint32_t index) {
  Slot& slot = slots_[index];
  if (slot.place == Place::memory) return;
  if (!(slot.place == Place::in_register && slot.is_clean)) store(slot, slot.home);
  release(slot);
  slot.place = Place::memory;
  slot.is_clean = false;
}

void ValueStack::spill_register(Register one) {
  const auto spill_range = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t index = begin; index < end; ++index) {
      if (slots_[index].place == Place::in_register && slots_[index].in == one) spill(index);
    }
  };
  spill_range(0, cached_locals());
  spill_range(window_, size());
}

void ValueStack::spill_registers() {
  const auto spill_range = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t index = begin; index < end; ++index) {
      if (slots_[index].place == Place::in_register) spill(index);
    }
  };
  spill_range(0, cached_locals());
  spill_range(window_, size());
}

void ValueStack::settle_flags() {
  if (slots_.size() <= locals_ || slots_.back().place != Place::flags) return;
  const auto condition = static_cast<x86::CondCode>(slots_.back().value);
  slots_.pop_back();
  const RegisterSet pinned = pinned_;
  const Register into = allocate(false);
  assembler_.set(condition, x86::gpb(into));
  assembler_.movzx(gp32(into), x86::gpb(into));
  pinned_ = pinned;
  push_register(ValueType::Kind::i32, into);
}

void ValueStack::forget_registers() {
  const auto forget_range = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t index = begin; index < end; ++index) {
      slots_[index].place = Place::memory;
      slots_[index].is_clean = false;
    }
  };
  forget_range(0, cached_locals());
  forget_range(window_, size());
  users_.fill(0);
}

x86::Mem ValueStack::at_home(std::uint32_t home) {
  return x86::ptr(x86::rbp, -static_cast<std::int32_t>(home));
}

x86::Mem ValueStack::home_of(const Slot& slot) {
  return at_home(slot.home);
}

void ValueStack::load(Register into, const Slot& from) {
  switch (from.place) {
    case Place::memory:
      if (!is_vector(into)) {
        assembler_.mov(from.kind == ValueType::Kind::i32 ? gp32(into) : gp64(into), home_of(from));
      } else if (from.kind == ValueType::Kind::f32) {
        assembler_.movss(xmm(into), home_of(from));
      } else if (from.kind == ValueType::Kind::f64) {
        assembler_.movsd(xmm(into), home_of(from));
      } else {
        assembler_.movups(xmm(into), home_of(from));
      }
      return;
    case Place::in_register:
      if (from.in == into) return;
      if (is_vector(into)) {
        assembler_.movaps(xmm(into), xmm(from.in));
      } else {
        assembler_.mov(gp64(into), gp64(from.in));
      }
      return;
    case Place::constant:
      // No instruction here may change the flags: a comparison may be waiting.
      if (is_vector(into)) {
        assembler_.xorps(xmm(into), xmm(into));  // the only constant of its class
      } else if (from.kind == ValueType::Kind::i32 || from.value >= 0) {
        assembler_.mov(gp32(into), from.value);
      } else {
        assembler_.mov(gp64(into), from.value);
      }
      return;
    case Place::flags:
      return;  // settled before anything is loaded
  }
}

void ValueStack::copy_memory(const Slot& from, std::uint32_t home) {
  if (from.kind == ValueType::Kind::v128) {
    assembler_.movups(xmm(vector_scratch), home_of(from));
    assembler_.movups(at_home(home), xmm(vector_scratch));
  } else {
    assembler_.mov(gp64(scratch), home_of(from));
    assembler_.mov(at_home(home), gp64(scratch));
  }
}

void ValueStack::store(const Slot& from, std::uint32_t home) {
  x86::Mem memory = at_home(home);
  if (from.place == Place::constant) {
    memory.setSize(8);
    assembler_.mov(memory, from.value);
    if (from.kind == ValueType::Kind::v128) {
      memory.addOffset(8);
      assembler_.mov(memory, 0);
    }
  } else if (from.place == Place::in_register) {
    if (!is_vector(from.in)) {
      assembler_.mov(memory, gp64(from.in));
    } else if (from.kind == ValueType::Kind::v128) {
      assembler_.movups(memory, xmm(from.in));
    } else {
      assembler_.movsd(memory, xmm(from.in));
    }
  } else {
    copy_memory(from, home);
  }
}

}  // namespace plimsoll::wasm::baseline
