#include "wasm/baseline/x64/parallel_moves.h"

namespace plimsoll::wasm::baseline {

bool ParallelMoves::is_empty() const noexcept {
  if (load_count_ != 0) return false;
  for (const Register source : sources_) {
    if (source != no_register) return false;
  }
  return true;
}

void ParallelMoves::move(Register into, Register from) {
  if (is_vector(into)) {
    assembler_.movaps(xmm(into), xmm(from));
  } else {
    assembler_.mov(gp64(into), gp64(from));
  }
}

void ParallelMoves::emit() {
  std::array<std::uint8_t, 32> readers{};
  for (const Register source : sources_) {
    if (source != no_register) ++readers[source];
  }
  // Destinations that nobody reads any more go first; what is left then are cycles.
  bool moved = true;
  while (moved) {
    moved = false;
    for (Register into = 0; into < 32; ++into) {
      if (sources_[into] == no_register || readers[into] != 0) continue;
      move(into, sources_[into]);
      --readers[sources_[into]];
      sources_[into] = no_register;
      moved = true;
    }
  }
  for (Register start = 0; start < 32; ++start) {
    if (sources_[start] == no_register) continue;
    // Each register of a cycle has one reader: save the first, shift the rest along.
    const Register saved = is_vector(start) ? vector_scratch : scratch;
    move(saved, start);
    Register into = start;
    while (sources_[into] != start) {
      const Register from = sources_[into];
      move(into, from);
      sources_[into] = no_register;
      into = from;
    }
    move(into, saved);
    sources_[into] = no_register;
  }
  for (std::size_t index = 0; index < load_count_; ++index) {
    values_.load(load_into_[index], loads_[index]);
  }
  load_count_ = 0;
}

}  // namespace plimsoll::wasm::baseline
