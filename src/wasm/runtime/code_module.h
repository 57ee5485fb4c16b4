// A module with its code. Why it exists: compiled once, shared by all instances. May touch: code/,
// binary/, baseline/compile.h, engine.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include "code/code_memory.h"
#include "code/code_ranges.h"
#include "plimsoll/refusal.h"
#include "wasm/binary/mapped_file.h"
#include "wasm/binary/module.h"
#include "wasm/runtime/engine.h"

namespace plimsoll::wasm {

/// Immutable once compiled; thread-safe.
class CodeModule : public code::CodeOwner {
 public:
  /// Decodes, validates and compiles everything, function after function, as the bytes pass. Data
  /// segments are copied. Throws Error(bad_input) and Error(unsupported) with the byte offset.
  [[nodiscard]] static std::expected<std::shared_ptr<const CodeModule>, Refusal> compile(
      const std::shared_ptr<Engine>& engine, std::span<const std::byte> bytes);

  /// The same from a file, whose pages are given back behind the compiler.
  [[nodiscard]] static std::expected<std::shared_ptr<const CodeModule>, Refusal> compile(
      const std::shared_ptr<Engine>& engine, MappedFile& file);

  [[nodiscard]] const Module& module() const noexcept { return *module_; }
  [[nodiscard]] const std::shared_ptr<Engine>& engine() const noexcept { return engine_; }
  /// Identities of the module's types in the engine.
  [[nodiscard]] const std::vector<std::uint32_t>& type_identities() const noexcept {
    return identities_;
  }
  /// By function index; null for imported ones.
  [[nodiscard]] const void* const* code_table() const noexcept { return code_table_.data(); }
  [[nodiscard]] std::span<const std::byte> data(std::uint32_t segment) const noexcept;
  [[nodiscard]] std::uint64_t code_bytes() const;
  /// Tables beside the code: the description, the code table, places, trap sites.
  [[nodiscard]] std::uint64_t metadata_bytes() const noexcept;

  [[nodiscard]] int trap_kind_at(const std::byte* address) const noexcept override;

 private:
  class Listener;
  static std::expected<std::shared_ptr<const CodeModule>, Refusal> compile(
      const std::shared_ptr<Engine>& engine, std::span<const std::byte> bytes, MappedFile* file);
  explicit CodeModule(std::shared_ptr<Engine> engine);
  /// Where a function's code lies and its sites: in rising order of offset.
  struct Entry {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t sites = 0;
    std::uint32_t sites_size = 0;
  };

  std::shared_ptr<Engine> engine_;
  std::unique_ptr<const Module> module_;
  std::vector<std::uint32_t> identities_;
  std::unique_ptr<code::CodeMemory> memory_;
  BudgetedVector<const void*> code_table_;
  BudgetedVector<Entry> entries_;
  BudgetedVector<std::uint8_t> sites_;
  BudgetedVector<std::byte> data_;
  BudgetedVector<ByteRange> segments_;  ///< in data_
  std::unique_ptr<code::CodeRange> range_;
};

}  // namespace plimsoll::wasm
