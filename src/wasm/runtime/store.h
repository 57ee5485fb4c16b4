// A store: what guests made, and the thread that runs them. Why it exists: instances, memories,
// tables and host functions refer to each other freely, so they live and die together.
// May touch: engine.h, code_module.h, guest_memory.h, context.h.
#pragma once

#include <cstdint>
#include <exception>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "plimsoll/refusal.h"
#include "wasm/runtime/code_module.h"
#include "wasm/runtime/context.h"
#include "wasm/runtime/engine.h"
#include "wasm/runtime/guest_memory.h"
#include "wasm/runtime/trap.h"

namespace plimsoll::wasm {

class Instance;

struct GuestTable {
  TableType type;  ///< with the engine's type identities
  TableView view;
  std::vector<std::uint64_t> elements;
  memory::Reservation claim;
};
struct GuestGlobal {
  GlobalType type;  ///< with the engine's type identities
  Cell cell;
};
struct GuestTag {
  std::uint32_t type = 0;  ///< the engine's identity
};

/// Something that can be imported or exported.
using External = std::variant<FunctionRecord*, GuestTable*, GuestMemory*, GuestGlobal*, GuestTag*>;

/// Called with the arguments; fills the results. Returns TrapKind::none, or traps its caller.
using HostCallback = std::function<TrapKind(std::span<const Cell>, std::span<Cell>)>;

/// How a call ended.
struct CallOutcome {
  TrapKind trap = TrapKind::none;
  std::vector<Cell> results;  ///< where there was no trap
};

/// One thread at a time.
class Store {
 public:
  /// The stack that guests may use, unless told otherwise.
  static constexpr std::uint64_t default_stack_bytes = 1 << 20;

  explicit Store(std::shared_ptr<Engine> engine, std::uint64_t stack_bytes = default_stack_bytes);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  [[nodiscard]] const std::shared_ptr<Engine>& engine() const noexcept { return engine_; }
  [[nodiscard]] StoreContext* context() noexcept { return context_.get(); }

  /// The type is one of the module's own making: parameters and results as value types that name no
  /// defined type.
  FunctionRecord* add_host_function(std::span<const ValueType> parameters,
                                    std::span<const ValueType> results, HostCallback callback);
  [[nodiscard]] std::expected<GuestMemory*, Refusal> add_memory(const MemoryType& type);
  [[nodiscard]] std::expected<GuestTable*, Refusal> add_table(const TableType& type,
                                                              std::uint64_t initial);
  /// The size before, or −1 where the maximum, the budget or the heap says no.
  [[nodiscard]] std::int64_t grow_table(GuestTable& table, std::uint64_t value,
                                        std::uint64_t count) noexcept;
  GuestGlobal* add_global(const GlobalType& type, Cell value);
  GuestTag* add_tag(std::uint32_t type);
  Instance* add_instance(std::unique_ptr<Instance> instance);

  /// Calls a function with cells in the order of its parameters, whose number and kinds are right.
  /// An exception of a host function leaves from here.
  [[nodiscard]] CallOutcome call(const FunctionRecord& function, std::span<const Cell> arguments);
  /// Parameters and results of a function.
  [[nodiscard]] std::span<const ValueType> parameters_of(const FunctionRecord& function) const;
  [[nodiscard]] std::span<const ValueType> results_of(const FunctionRecord& function) const;

 private:
  struct HostFunction;
  static std::uint64_t enter_host(HostContext* context, CallFrame* frame) noexcept;
  void set_stack_limit();

  std::shared_ptr<Engine> engine_;
  std::unique_ptr<StoreContext> context_;
  std::uint64_t stack_bytes_;
  std::vector<std::unique_ptr<HostFunction>> host_functions_;
  std::vector<std::unique_ptr<GuestMemory>> memories_;
  std::vector<std::unique_ptr<GuestTable>> tables_;
  std::vector<std::unique_ptr<GuestGlobal>> globals_;
  std::vector<std::unique_ptr<GuestTag>> tags_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::exception_ptr host_exception_;
};

}  // namespace plimsoll::wasm
