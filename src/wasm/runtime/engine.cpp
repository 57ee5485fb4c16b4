#include "wasm/runtime/engine.h"

#include "wasm/runtime/signals.h"

namespace plimsoll::wasm {

std::expected<std::shared_ptr<Engine>, Refusal> Engine::create(
    std::shared_ptr<memory::Budget> budget, EngineSettings settings) {
  install_trap_handlers();
  std::shared_ptr<Engine> engine(new Engine(std::move(budget), settings));
  auto stubs = Stubs::create(engine->budget_);
  if (!stubs) return std::unexpected(std::move(stubs.error()));
  engine->stubs_ = std::move(*stubs);
  return engine;
}

}  // namespace plimsoll::wasm
