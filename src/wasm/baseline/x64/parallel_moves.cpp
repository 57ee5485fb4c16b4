#include "wasm/baseline/x64/parallel_moves.h"

#include <bit>

namespace plimsoll::wasm::baseline {

void ParallelMoves::move(Register into, Register from) {
  if (is_vector(into)) {
    assembler_.movaps(xmm(into), xmm(from));
  } else {
    assembler_.mov(gp64(into), gp64(from));
  }
}

void ParallelMoves::emit_moves() {
  const auto first_of = [](RegisterSet set) {
    return static_cast<Register>(std::countr_zero(set));
  };
  std::array<std::uint8_t, 32> readers{};
  for (RegisterSet left = pending_; left != 0; left &= left - 1)
    ++readers[sources_[first_of(left)]];
  // Destinations that nobody reads any more go first; what is left then are cycles.
  bool moved = true;
  while (moved) {
    moved = false;
    for (RegisterSet left = pending_; left != 0; left &= left - 1) {
      const Register into = first_of(left);
      if (readers[into] != 0) continue;
      move(into, sources_[into]);
      --readers[sources_[into]];
      pending_ &= ~bit(into);
      moved = true;
    }
  }
  while (pending_ != 0) {
    // Each register of a cycle has one reader: save the first, shift the rest along.
    const Register start = first_of(pending_);
    const Register saved = is_vector(start) ? vector_scratch : scratch;
    move(saved, start);
    Register into = start;
    while (sources_[into] != start) {
      move(into, sources_[into]);
      pending_ &= ~bit(into);
      into = sources_[into];
    }
    move(into, saved);
    pending_ &= ~bit(into);
  }
}

void ParallelMoves::emit() {
  if (pending_ != 0) emit_moves();
  for (std::size_t index = 0; index < load_count_; ++index) {
    values_.load(load_into_[index], loads_[index]);
  }
  load_count_ = 0;
}

}  // namespace plimsoll::wasm::baseline
