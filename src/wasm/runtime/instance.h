// A module brought to life. Why it exists: imports are bound, memories and tables made, segments
// placed; and r12 points into it. May touch: store.h, code_module.h.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plimsoll/refusal.h"
#include "wasm/runtime/store.h"

namespace plimsoll::wasm {

/// Owned by its store.
class Instance {
 public:
  struct Outcome {
    Instance* instance = nullptr;    ///< null after a trap
    TrapKind trap = TrapKind::none;  ///< of a segment that does not fit, or of `start`
  };
  /// `imports` in the order of the module's. Throws Error(bad_input) naming the first import that
  /// does not match ("incompatible import type").
  [[nodiscard]] static std::expected<Outcome, Refusal> create(
      Store& store, std::shared_ptr<const CodeModule> code, std::span<const External> imports);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance() = default;

  [[nodiscard]] std::optional<External> find_export(std::string_view name) const;
  [[nodiscard]] const CodeModule& code() const noexcept { return *code_; }
  [[nodiscard]] const InstanceContext& context() const noexcept { return context_; }
  [[nodiscard]] Store& store() noexcept { return *store_; }
  /// Empty once dropped, as active ones are after they were placed.
  [[nodiscard]] std::span<const std::byte> data_segment(std::uint32_t index) const noexcept;
  [[nodiscard]] std::span<const std::uint64_t> element_segment(std::uint32_t index) const noexcept {
    return elements_[index];
  }
  void drop_data(std::uint32_t index) noexcept { is_data_dropped_[index] = true; }
  void drop_elements(std::uint32_t index) noexcept { elements_[index] = {}; }
  /// The size before, or −1 where the maximum or the budget says no.
  [[nodiscard]] std::int64_t grow_table(std::uint32_t index, std::uint64_t value,
                                        std::uint64_t count) noexcept;
  [[nodiscard]] GuestMemory& memory(std::uint32_t index) noexcept { return *memories_[index]; }

 private:
  Instance(Store& store, std::shared_ptr<const CodeModule> code);
  void bind_imports(std::span<const External> imports);
  void bind_import(const Import& import, const External& given);
  [[nodiscard]] std::expected<void, Refusal> make_memories();
  [[nodiscard]] std::expected<void, Refusal> make_tables();
  void make_functions();
  void make_globals();
  void fill_context();
  [[nodiscard]] TrapKind place_elements();
  [[nodiscard]] TrapKind place_data();
  [[nodiscard]] Cell evaluate(std::span<const std::byte> expression) const;
  [[nodiscard]] std::vector<std::uint64_t> element_values(const ElementSegment& segment) const;
  [[nodiscard]] External external(ExternalKind kind, std::uint32_t index) const;

  Store* store_;
  std::shared_ptr<const CodeModule> code_;
  InstanceContext context_;
  std::vector<FunctionRecord> own_functions_;  ///< those that references may name
  std::vector<FunctionRecord*> functions_;
  std::vector<GuestTable*> tables_;
  std::vector<TableView*> table_views_;
  std::vector<GuestMemory*> memories_;
  std::vector<MemoryView*> memory_views_;
  std::vector<GuestGlobal*> globals_;
  std::vector<Cell*> global_cells_;
  std::vector<GuestTag*> tags_;
  std::vector<std::vector<std::uint64_t>> elements_;  ///< of passive segments
  std::vector<bool> is_data_dropped_;
  std::vector<std::shared_ptr<const std::vector<std::uint32_t>>> chains_;  ///< kept alive
};

}  // namespace plimsoll::wasm
