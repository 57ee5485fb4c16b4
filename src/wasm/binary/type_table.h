// The defined types of a module, and subtyping. Why it exists: types are equal when their rec
// groups have the same structure, so each group is looked up among the earlier ones once, and from
// then on its canonical index stands for it; all checks are then comparisons of numbers.
// May touch: budgeted_vector.h, value_type.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "wasm/binary/budgeted_vector.h"
#include "wasm/binary/value_type.h"

namespace plimsoll::wasm {

inline constexpr std::uint32_t no_index = UINT32_MAX;

/// A defined type. All are function types: structs and arrays are refused by the decoder.
struct FunctionType {
  std::uint32_t first_value = 0;  ///< in the table's pool: parameters, then results
  std::uint16_t parameter_count = 0;
  std::uint16_t result_count = 0;
  std::uint32_t supertype = no_index;
  std::uint32_t canonical = 0;  ///< the first type of the module that is equal to it
  std::uint32_t group_start = 0;
  std::uint8_t depth = 0;  ///< of supertypes above
  bool is_final = true;
};

/// Filled by the type section, then only read: safe from many threads. Growing throws OutOfBudget.
class TypeTable {
 public:
  explicit TypeTable(const std::shared_ptr<memory::Budget>& budget);

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(types_.size());
  }
  [[nodiscard]] const FunctionType& operator[](std::uint32_t index) const noexcept {
    return types_[index];
  }
  [[nodiscard]] std::span<const ValueType> parameters(std::uint32_t index) const noexcept {
    const FunctionType& type = types_[index];
    return values_.span(type.first_value, type.parameter_count);
  }
  [[nodiscard]] std::span<const ValueType> results(std::uint32_t index) const noexcept {
    const FunctionType& type = types_[index];
    return values_.span(type.first_value + type.parameter_count, type.result_count);
  }
  /// "(i32 i64) -> (f32)".
  [[nodiscard]] std::string describe(std::uint32_t index) const;

  [[nodiscard]] bool is_subtype(ValueType sub, ValueType super) const noexcept {
    return sub == super || is_other_subtype(sub, super);
  }
  [[nodiscard]] bool is_subtype(HeapType sub, HeapType super) const noexcept;
  /// Same number, each a subtype.
  [[nodiscard]] bool are_subtypes(std::span<const ValueType> sub,
                                  std::span<const ValueType> super) const noexcept;
  /// The top of the hierarchy that a heap type belongs to: any, func, extern or exn.
  [[nodiscard]] HeapType top_of(HeapType type) const noexcept;

  // Building, by the type section. A group's members refer to each other by their own indices until
  // end_group() finds whether an earlier group is equal.
  void begin_group(std::uint32_t members);
  /// The values of the next member, parameters first, one after the other.
  void add_value(ValueType type) { values_.push_back(type); }
  void add_type(std::uint32_t parameters, std::uint32_t results, std::uint32_t supertype,
                bool is_final);
  /// After all members. Type indices below `size()` are valid inside the group, and below
  /// `group_end()` while it is being read.
  void end_group();
  [[nodiscard]] std::uint32_t group_end() const noexcept { return group_start_ + group_members_; }
  /// Whether a type may be declared below its supertype: parameters and results match.
  [[nodiscard]] bool matches_supertype(std::uint32_t index) const noexcept;
  void shrink_to_fit();
  [[nodiscard]] std::uint64_t claimed_bytes() const noexcept;

 private:
  [[nodiscard]] bool is_other_subtype(ValueType sub, ValueType super) const noexcept;
  [[nodiscard]] bool is_concrete_subtype(std::uint32_t sub, std::uint32_t super) const noexcept;
  [[nodiscard]] std::uint32_t canonical_of(std::uint32_t index) const noexcept;
  [[nodiscard]] std::uint64_t hash_group(std::uint32_t start, std::uint32_t members) const noexcept;
  [[nodiscard]] bool groups_equal(std::uint32_t one, std::uint32_t other,
                                  std::uint32_t members) const noexcept;
  [[nodiscard]] std::uint32_t group_size(std::uint32_t start) const noexcept;
  void grow_slots();

  BudgetedVector<FunctionType> types_;
  BudgetedVector<ValueType> values_;
  BudgetedVector<std::uint32_t> slots_;  ///< open addressing: start of a group plus 1, or 0
  std::uint32_t groups_ = 0;             ///< canonical ones
  std::uint32_t group_start_ = 0;
  std::uint32_t group_members_ = 0;
  std::size_t group_first_value_ = 0;
};

}  // namespace plimsoll::wasm
