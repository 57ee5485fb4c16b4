// What compiled code reaches through r12: docs/guest-abi.md. Why it exists: compilers read these
// layouts by offset, so they are plain structures in one place. May touch: the standard library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace plimsoll::wasm {

class Instance;
struct InstanceContext;

/// One value in memory: numbers and references in `low`, a v128 in both.
struct alignas(16) Cell {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// The registers of a call, for the stubs between C++ and guests.
struct CallFrame {
  static constexpr std::size_t number_registers = 8;
  static constexpr std::size_t vector_registers = 8;
  std::array<std::uint64_t, number_registers> numbers{};
  std::array<Cell, vector_registers> vectors{};
  std::uint64_t number_result = 0;
  std::uint64_t padding = 0;
  Cell vector_result;
};

/// A call from C++ into a guest that has not returned.
struct Activation {
  Activation* previous = nullptr;
  std::uint64_t stack_pointer = 0;  ///< what a trap restores
  std::uint64_t frame_pointer = 0;
  std::uint64_t trap_exit = 0;  ///< where a trap continues
  std::uint64_t trap_address = 0;
  std::uint32_t trap_kind = 0;
};

/// The state of the thread that runs a store's guests.
struct StoreContext {
  static constexpr std::size_t area_cells = 1000;  ///< as many as a type has parameters or results
  std::uint64_t stack_limit = 0;
  Activation* activation = nullptr;
  std::array<Cell, area_cells> area{};  ///< parameters and results beyond the registers
};

struct MemoryView {
  std::byte* base = nullptr;
  std::uint64_t bytes = 0;
};

/// What a function reference points to.
struct FunctionRecord {
  const void* const* slot = nullptr;          ///< holds the address of the code
  InstanceContext* context = nullptr;         ///< r12 for the callee
  const std::uint32_t* supertypes = nullptr;  ///< type identities from the top down, own last
  std::uint32_t type = 0;                     ///< identity in the engine
  std::uint32_t depth = 0;                    ///< of supertypes: supertypes[depth] == type
};

struct TableView {
  std::uint64_t* elements = nullptr;  ///< references; 0 is null
  std::uint64_t size = 0;
};

/// Parts of the runtime that guests call as C functions. `pair` holds two indices: the
/// destination's in the upper half. Those that return 0 or 1: 1 says that the activation holds the
/// reason of a trap. None throws.
struct Builtins {
  using Context = InstanceContext*;
  using Number = std::uint64_t;
  /// The size before in pages, or −1.
  Number (*memory_grow)(Context, std::uint32_t memory, Number pages);
  Number (*memory_fill)(Context, Number memory, Number offset, Number value, Number count);
  Number (*memory_copy)(Context, Number pair, Number to, Number from, Number count);
  Number (*memory_init)(Context, Number pair, Number to, Number from, Number count);
  Number (*data_drop)(Context, Number segment);
  Number (*elem_drop)(Context, Number segment);
  /// The size before, or −1.
  Number (*table_grow)(Context, Number table, Number value, Number count);
  Number (*table_fill)(Context, Number table, Number offset, Number value, Number count);
  Number (*table_copy)(Context, Number pair, Number to, Number from, Number count);
  Number (*table_init)(Context, Number pair, Number to, Number from, Number count);
  /// Return −1 where the activation holds the reason of a trap.
  Number (*memory_notify)(Context, Number memory, Number index, Number offset, Number count);
  Number (*memory_wait32)(Context, Number memory, Number index, Number offset, Number expected,
                          Number nanoseconds);
  Number (*memory_wait64)(Context, Number memory, Number index, Number offset, Number expected,
                          Number nanoseconds);
  /// Whether a reference is of a heap type (HeapType::value(), an index of the module's own).
  Number (*reference_matches)(Context, Number heap, Number value, Number or_null);
};

struct InstanceContext {
  StoreContext* store = nullptr;
  const void* const* code_table = nullptr;  ///< by function index, imported ones included
  MemoryView* memory0 = nullptr;
  FunctionRecord* const* functions = nullptr;  ///< by function index
  Cell* const* globals = nullptr;
  TableView* const* tables = nullptr;
  MemoryView* const* memories = nullptr;
  const std::uint32_t* types = nullptr;  ///< identities in the engine, by type index
  const Builtins* builtins = nullptr;
  Instance* instance = nullptr;
};

/// r12 of a host function; begins like an InstanceContext.
struct HostContext {
  StoreContext* store = nullptr;
  /// Returns 0, or non-zero when the activation holds the reason of a trap.
  std::uint64_t (*entry)(HostContext*, CallFrame*) = nullptr;
};

}  // namespace plimsoll::wasm
