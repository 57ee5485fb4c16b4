// Where a process's memory cgroup is and what its files say, as pure functions over text. Why it
// exists: the layout differs between v1, v2, both at once, namespaces and containers, and tests
// feed them all. May touch: probe.h's types only. Formats: cgroups(7), proc(5) for mountinfo, and
// the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/probe.h"

namespace plimsoll::memory {

/// A number of bytes; nothing for "max", for v1's "no limit" (2^63 rounded down to pages) and for
/// text that is no number.
[[nodiscard]] std::optional<std::uint64_t> parse_cgroup_value(std::string_view text);
/// The value after "name " in a memory.stat; nothing where it is missing.
[[nodiscard]] std::optional<std::uint64_t> parse_cgroup_stat(std::string_view text,
                                                             std::string_view name);

/// A memory cgroup's folder under its mount point.
struct CgroupFolder {
  int version = 0;
  std::string mount;
  std::string path;  ///< starts with mount
};
/// From /proc/self/cgroup and /proc/self/mountinfo; v1's memory controller before v2's hierarchy.
/// In a container the mount shows only a part of the hierarchy: what lies outside of it counts as
/// the mount itself.
[[nodiscard]] std::vector<CgroupFolder> find_cgroup_folders(std::string_view cgroup,
                                                            std::string_view mountinfo);

/// The text of a file, empty where it cannot be read.
using FileText = std::function<std::string(const std::string& path)>;
/// Walks from the process's own group up to the mount.
[[nodiscard]] CgroupMemory read_cgroup(const std::vector<CgroupFolder>& folders,
                                       const FileText& text_of);

}  // namespace plimsoll::memory
