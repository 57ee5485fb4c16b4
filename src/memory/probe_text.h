// Parsers of /proc's text files, as pure functions. Why it exists: these files vary between kernels
// and containers, so the parsers are fed odd and hostile text by tests. May touch: probe.h's types
// only. Formats: proc(5), and Documentation/accounting/psi.rst of the kernel.
#pragma once

#include <optional>
#include <string_view>

#include "memory/probe.h"

namespace plimsoll::memory {

/// Takes the text up to `separator` off the front; all of it where there is none.
[[nodiscard]] std::string_view take_until(std::string_view& text, char separator) noexcept;
/// The decimal number at the front, after blanks; nothing where none stands there or it is too
/// large.
[[nodiscard]] std::optional<std::uint64_t> leading_number(std::string_view text) noexcept;

/// Nothing for a text without VmRSS: a kernel thread, a process that has ended.
[[nodiscard]] std::optional<ProcessMemory> parse_process_status(std::string_view text);
[[nodiscard]] std::optional<MappedMemory> parse_smaps_rollup(std::string_view text);
[[nodiscard]] MachineMemory parse_meminfo(std::string_view text);
void parse_pressure(std::string_view text, MachineMemory& machine);

}  // namespace plimsoll::memory
