// What this implementation accepts of each countable thing. Why it exists: every number in a module
// comes from outside; past these a module is refused by name before anything is allocated. Most are
// the limits that the WebAssembly JavaScript API prescribes ("Implementation-defined Limits"), so
// that a module that runs in a browser runs here. May touch: nothing.
#pragma once

#include <cstdint>

namespace plimsoll::wasm::limits {

inline constexpr std::uint64_t module_bytes = 1U << 30;
inline constexpr std::uint32_t types = 1'000'000;
inline constexpr std::uint32_t recursion_group_types = 1'000'000;
inline constexpr std::uint32_t subtyping_depth = 63;
inline constexpr std::uint32_t functions = 1'000'000;
inline constexpr std::uint32_t imports = 1'000'000;
inline constexpr std::uint32_t exports = 1'000'000;
inline constexpr std::uint32_t globals = 1'000'000;
inline constexpr std::uint32_t tags = 1'000'000;
inline constexpr std::uint32_t tables = 100'000;
inline constexpr std::uint32_t memories = 100'000;
inline constexpr std::uint32_t data_segments = 100'000;
inline constexpr std::uint32_t element_segments = 10'000'000;
inline constexpr std::uint32_t parameters = 1'000;
inline constexpr std::uint32_t results = 1'000;
inline constexpr std::uint32_t name_bytes = 100'000;
inline constexpr std::uint32_t body_bytes = 7'654'321;
inline constexpr std::uint32_t locals = 50'000;
inline constexpr std::uint32_t table_entries = 10'000'000;  ///< of one element segment

// Not in that list; what bounds the memory of checking one body. The modules that this was written
// for stay below a hundredth of the first two and a fifth of the third.
inline constexpr std::uint32_t nesting = 65'536;         ///< blocks inside blocks
inline constexpr std::uint32_t operand_stack = 131'072;  ///< values on the stack at once
inline constexpr std::uint32_t branch_targets = 65'520;  ///< of one br_table
inline constexpr std::uint32_t catch_clauses = 10'000;   ///< of one try_table

}  // namespace plimsoll::wasm::limits
