// A decoded module: everything but the code and the data, which stay where the bytes are. Why it
// exists: validation, both compilers, the runtime and `inspect` read the same description.
// May touch: type_table.h, budgeted_vector.h, features.h.
//
// Tables are flat and small: a function costs 12 bytes. Expressions and element lists are kept as
// the validated bytes of the binary format in one pool, and decoded again when an instance is made.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "wasm/binary/budgeted_vector.h"
#include "wasm/binary/features.h"
#include "wasm/binary/type_table.h"
#include "wasm/binary/value_type.h"

namespace plimsoll::wasm {

/// A range of the module's own bytes (offsets in the file) or of a pool, as said where it is used.
struct ByteRange {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

enum class ExternalKind : std::uint8_t { function, table, memory, global, tag };
[[nodiscard]] std::string_view external_kind_name(ExternalKind kind) noexcept;

struct Limits {
  std::uint64_t minimum = 0;
  std::uint64_t maximum = 0;  ///< where has_maximum
  bool has_maximum = false;
  bool is_shared = false;
  bool is_64 = false;  ///< addressed by i64
};
/// In pages of 64 KiB.
struct MemoryType {
  Limits limits;
};
inline constexpr std::uint64_t wasm_page_bytes = 65'536;

struct TableType {
  ValueType element;
  Limits limits;
};
struct Table {
  TableType type;
  ByteRange initial;  ///< expression in the pool; empty: null
};
struct GlobalType {
  ValueType type;
  bool is_mutable = false;
};
struct Global {
  GlobalType type;
  ByteRange initial;  ///< expression in the pool; empty for an imported one
};

struct Import {
  ByteRange module;  ///< in the pool of names
  ByteRange field;   ///< in the pool of names
  ExternalKind kind = ExternalKind::function;
  std::uint32_t index = 0;  ///< among the things of its kind
};
struct Export {
  ByteRange name;  ///< in the pool of names
  ExternalKind kind = ExternalKind::function;
  std::uint32_t index = 0;
};

/// A function of the module or an imported one.
struct Function {
  std::uint32_t type = 0;
  ByteRange body;  ///< in the file: from the local declarations to `end`; empty for an imported one
};

struct ElementSegment {
  enum class Mode : std::uint8_t { active, passive, declared };
  Mode mode = Mode::active;
  bool are_expressions = false;  ///< the items are expressions; otherwise function indices
  ValueType type;
  std::uint32_t table = 0;
  std::uint32_t count = 0;
  ByteRange offset;  ///< expression in the pool, of an active one
  ByteRange items;   ///< in the pool, as in the file
};
struct DataSegment {
  bool is_active = true;
  std::uint32_t memory = 0;
  ByteRange offset;  ///< expression in the pool, of an active one
  ByteRange bytes;   ///< in the file
};
struct CustomSection {
  ByteRange name;   ///< in the pool of names
  ByteRange bytes;  ///< in the file
};
struct SectionRange {
  std::uint8_t id = 0;
  ByteRange bytes;  ///< in the file, without id and size
};

/// Immutable once decoded; then safe from many threads.
struct Module {
  explicit Module(const std::shared_ptr<memory::Budget>& budget);

  TypeTable types;
  BudgetedVector<Import> imports;
  BudgetedVector<Function> functions;  ///< imported ones first, as all that follow
  BudgetedVector<Table> tables;
  BudgetedVector<MemoryType> memories;
  BudgetedVector<Global> globals;
  BudgetedVector<std::uint32_t> tags;  ///< type indices
  BudgetedVector<Export> exports;      ///< in the order of the file
  BudgetedVector<ElementSegment> elements;
  BudgetedVector<DataSegment> data;
  BudgetedVector<CustomSection> custom_sections;
  BudgetedVector<SectionRange> sections;  ///< in the order of the file
  BudgetedVector<char> names;
  BudgetedVector<std::byte> expressions;
  BudgetedVector<std::uint8_t> declared_functions;  ///< bits: those that `ref.func` may name

  std::uint32_t imported_functions = 0;
  std::uint32_t imported_tables = 0;
  std::uint32_t imported_memories = 0;
  std::uint32_t imported_globals = 0;
  std::uint32_t imported_tags = 0;
  std::uint32_t start_function = no_index;
  std::uint32_t data_count = no_index;  ///< no_index: the section is absent
  std::uint64_t file_bytes = 0;
  FeatureSet allowed;
  FeatureSet used;

  [[nodiscard]] std::string_view name(ByteRange range) const noexcept {
    return {names.data() + range.offset, range.size};
  }
  [[nodiscard]] std::span<const std::byte> expression(ByteRange range) const noexcept {
    return expressions.span(range.offset, range.size);
  }
  [[nodiscard]] bool is_declared(std::uint32_t function) const noexcept {
    return function / 8 < declared_functions.size() &&
           (declared_functions[function / 8] >> (function % 8) & 1U) != 0;
  }
  /// Marks a function as one that `ref.func` may name. The index has been checked.
  void declare(std::uint32_t function);
  /// Copies into the pools. Throws OutOfBudget.
  [[nodiscard]] ByteRange add_name(std::string_view text);
  [[nodiscard]] ByteRange add_expression(std::span<const std::byte> bytes);
  void shrink_to_fit();
  /// What the description holds of the budget.
  [[nodiscard]] std::uint64_t claimed_bytes() const noexcept;
};

}  // namespace plimsoll::wasm
