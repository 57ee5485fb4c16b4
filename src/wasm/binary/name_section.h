// The name section, as far as it can be believed. Why it exists: backtraces and `inspect` show
// functions by name; the section is a hint that nothing validates, so one that lies costs names and
// nothing else. May touch: byte_reader.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll::wasm {

/// The names of the functions in `wanted`, as views into `section` (the custom section's bytes
/// after its name). Reading ends where the section contradicts itself; what came before counts.
/// Never throws but std::bad_alloc.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::string_view>> function_names(
    std::span<const std::byte> section, std::span<const std::uint32_t> wanted);

}  // namespace plimsoll::wasm
