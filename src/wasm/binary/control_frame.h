// One open block of a body. Why it exists: the validator's control stack, read by visitors too.
// May touch: type_table.h.
#pragma once

#include <cstdint>
#include <span>

#include "wasm/binary/type_table.h"
#include "wasm/binary/value_type.h"

namespace plimsoll::wasm {

/// What a block takes and gives: a defined type, or no parameters and at most one result.
struct BlockType {
  std::uint32_t type_index = no_index;
  ValueType result;  ///< where there is no type index; bottom: none

  [[nodiscard]] std::span<const ValueType> parameters(const TypeTable& types) const noexcept {
    if (type_index == no_index) return {};
    return types.parameters(type_index);
  }
  /// Points into this object where there is no type index: keep a copy alive.
  [[nodiscard]] std::span<const ValueType> results(const TypeTable& types) const noexcept {
    if (type_index != no_index) return types.results(type_index);
    return {&result, result.is_bottom() ? 0U : 1U};
  }
};

struct ControlFrame {
  enum class Kind : std::uint8_t { function, block, loop, if_, else_, try_table };

  Kind kind = Kind::block;
  bool is_unreachable = false;  ///< the rest of this block cannot be reached
  bool is_live = true;          ///< its beginning can be reached; visitors see only these
  BlockType type;
  std::uint32_t height = 0;              ///< of the operand stack, below its parameters
  std::uint32_t initialized_height = 0;  ///< of the list of locals that were set
  std::uint32_t checked_by = 0;          ///< the last br_table that checked it

  /// What a branch to it carries.
  [[nodiscard]] std::span<const ValueType> label_types(const TypeTable& types) const noexcept {
    return kind == Kind::loop ? type.parameters(types) : type.results(types);
  }
};

/// One clause of a try_table.
struct CatchClause {
  enum class Kind : std::uint8_t { one, one_ref, all, all_ref };
  Kind kind = Kind::all;
  std::uint32_t tag = no_index;
  std::uint32_t depth = 0;  ///< of the label, seen from outside the try_table
};

/// A memory access, checked.
struct MemoryArgument {
  std::uint64_t offset = 0;
  std::uint32_t memory = 0;
  std::uint8_t align_log2 = 0;  ///< a hint, except for atomics
  bool is_64 = false;
};

}  // namespace plimsoll::wasm
