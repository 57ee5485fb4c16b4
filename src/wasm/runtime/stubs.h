// The machine code between C++ and guests. Why it exists: guests have a calling convention of their
// own (docs/guest-abi.md); these few instructions translate. May touch: code/, context.h.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>

#include "code/code_memory.h"
#include "code/code_ranges.h"
#include "plimsoll/refusal.h"
#include "wasm/runtime/context.h"

namespace plimsoll::wasm {

/// Made once for an engine. Immutable, thread-safe.
class Stubs : public code::CodeOwner {
 public:
  /// Returns 0, or 1 after a trap, which the activation holds then.
  using Enter = std::uint64_t (*)(CallFrame*, const void* code, void* context, Activation*);

  [[nodiscard]] static std::expected<std::unique_ptr<Stubs>, Refusal> create(
      const std::shared_ptr<memory::Budget>& budget);

  [[nodiscard]] Enter enter() const noexcept { return enter_; }
  /// Where a trap continues: goes to Activation::trap_exit.
  [[nodiscard]] std::uint64_t trap_exit() const noexcept { return trap_exit_; }
  /// The code of every host function: r12 is a HostContext.
  [[nodiscard]] const void* const* host_call_slot() const noexcept { return &host_call_; }

  [[nodiscard]] int trap_kind_at(const std::byte* address) const noexcept override;

 private:
  Stubs() = default;
  std::unique_ptr<code::CodeMemory> memory_;
  std::unique_ptr<code::CodeRange> range_;
  Enter enter_ = nullptr;
  std::uint64_t trap_exit_ = 0;
  const void* host_call_ = nullptr;
  const std::byte* host_trap_ = nullptr;
};

}  // namespace plimsoll::wasm
