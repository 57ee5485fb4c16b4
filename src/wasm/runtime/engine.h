// What all modules and stores of a process part share. Why it exists: types have one identity and
// stubs exist once. May touch: stubs.h, type_registry.h, memory/budget.h.
#pragma once

#include <expected>
#include <memory>

#include "memory/budget.h"
#include "plimsoll/refusal.h"
#include "wasm/baseline/compile.h"
#include "wasm/runtime/stubs.h"
#include "wasm/runtime/type_registry.h"

namespace plimsoll::wasm {

struct EngineSettings {
  FeatureSet features = FeatureSet::wasm_3();
  CompileSettings compile;
};

/// Thread-safe; outlives what is made with it, by shared ownership.
class Engine {
 public:
  /// Installs the trap handlers. Throws Error(failure) where the system refuses them.
  [[nodiscard]] static std::expected<std::shared_ptr<Engine>, Refusal> create(
      std::shared_ptr<memory::Budget> budget, EngineSettings settings);

  [[nodiscard]] const std::shared_ptr<memory::Budget>& budget() const noexcept { return budget_; }
  [[nodiscard]] const EngineSettings& settings() const noexcept { return settings_; }
  [[nodiscard]] const Stubs& stubs() const noexcept { return *stubs_; }
  [[nodiscard]] TypeRegistry& types() noexcept { return types_; }

 private:
  Engine(std::shared_ptr<memory::Budget> budget, EngineSettings settings)
      : budget_(std::move(budget)), settings_(settings) {}
  std::shared_ptr<memory::Budget> budget_;
  EngineSettings settings_;
  std::unique_ptr<Stubs> stubs_;
  TypeRegistry types_;
};

}  // namespace plimsoll::wasm
