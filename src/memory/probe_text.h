// Parsers of the kernel's text files, as pure functions. Why it exists: cgroup and /proc files vary
// between kernels and containers, so the parsers are fed odd and hostile text by tests.
// May touch: probe.h's types only.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/probe.h"

namespace plimsoll::memory {

[[nodiscard]] std::optional<ProcessMemory> parse_process_status(std::string_view text);
[[nodiscard]] std::optional<MappedMemory> parse_smaps_rollup(std::string_view text);
[[nodiscard]] MachineMemory parse_meminfo(std::string_view text);
void parse_pressure(std::string_view text, MachineMemory& machine);
/// A number of bytes; nothing for "max", for v1's "no limit" (2^63 rounded down to pages) and for
/// text that is no number.
[[nodiscard]] std::optional<std::uint64_t> parse_cgroup_value(std::string_view text);

/// A memory cgroup's folder under its mount point.
struct CgroupFolder {
  int version = 0;
  std::string mount;
  std::string path;  ///< starts with mount
};
/// From /proc/self/cgroup and /proc/self/mountinfo; v1's memory controller before v2's hierarchy.
[[nodiscard]] std::vector<CgroupFolder> find_cgroup_folders(std::string_view cgroup,
                                                            std::string_view mountinfo);

}  // namespace plimsoll::memory
