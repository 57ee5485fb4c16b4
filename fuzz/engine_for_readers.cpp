// The part of Engine that readers of pictures use: memory under a limit. Why it exists: the whole
// engine brings the kernels, which take an hour to compile with what libFuzzer and the sanitizers
// add, and no byte from outside reaches them here. May touch: memory/, the public API.
#include "memory/block.h"
#include "memory/budget.h"
#include "plimsoll/engine.h"

namespace plimsoll {

struct Engine::State {
  std::shared_ptr<memory::Budget> root;
};

Engine Engine::create(EngineOptions options) {
  auto state = std::make_shared<State>();
  state->root = memory::Budget::root(
      "process", options.memory_limit_bytes.value_or(memory::Budget::unlimited));
  return Engine(std::move(state));
}

std::expected<HostMemory, Refusal> Engine::allocate(std::uint64_t bytes,
                                                    std::string_view purpose) const {
  auto block = memory::Block::allocate(*state_->root, bytes, purpose);
  if (!block) return std::unexpected(std::move(block.error()));
  auto owner = std::make_shared<memory::Block>(std::move(*block));
  std::byte* data = owner->data();
  return HostMemory{std::shared_ptr<std::byte>(std::move(owner), data), bytes};
}

}  // namespace plimsoll
