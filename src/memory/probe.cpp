#include "memory/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "memory/probe_text.h"
#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

/// Reads a small file of /proc or /sys into `buffer`; empty when it cannot be read.
std::string_view read_file(const char* path, std::span<char> buffer) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = read(descriptor, buffer.data() + filled, buffer.size() - filled);
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  close(descriptor);
  return {buffer.data(), filled};
}

}  // namespace

ProcessMemory probe_process() {
  std::array<char, 8192> buffer{};
  const std::string_view text = read_file("/proc/self/status", buffer);
  auto memory = parse_process_status(text);
  if (!memory) {
    throw Error(ErrorKind::failure,
                "/proc/self/status cannot be read: the memory limit needs /proc mounted");
  }
  return *memory;
}

std::optional<ProcessMemory> probe_process(int pid) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/status", pid);
  std::array<char, 8192> buffer{};
  return parse_process_status(read_file(path.data(), buffer));
}

std::optional<MappedMemory> probe_mappings() {
  std::array<char, 8192> buffer{};
  return parse_smaps_rollup(read_file("/proc/self/smaps_rollup", buffer));
}

MachineMemory probe_machine() {
  std::array<char, 8192> buffer{};
  MachineMemory machine = parse_meminfo(read_file("/proc/meminfo", buffer));
  std::array<char, 1024> pressure{};
  parse_pressure(read_file("/proc/pressure/memory", pressure), machine);
  return machine;
}

CgroupMemory probe_cgroup() {
  std::array<char, 4096> own{};
  std::array<char, 32768> mounts{};
  const std::vector<CgroupFolder> folders = find_cgroup_folders(
      read_file("/proc/self/cgroup", own), read_file("/proc/self/mountinfo", mounts));
  CgroupMemory result;
  for (const CgroupFolder& folder : folders) {
    result.version = folder.version;
    const bool v2 = folder.version == 2;
    std::string path = folder.path;
    bool own_level = true;
    // From the process's own group up to the mount: the strictest limit counts; use and peak are
    // those of the group that sets it, or its own where none does.
    for (;;) {
      std::array<char, 64> text{};
      const auto value = [&](const char* name) {
        return parse_cgroup_value(read_file((path + "/" + name).c_str(), text));
      };
      const auto limit = value(v2 ? "memory.max" : "memory.limit_in_bytes");
      const bool stricter = limit && (!result.limit_bytes || *limit < *result.limit_bytes);
      if (stricter) result.limit_bytes = limit;
      if (stricter || own_level) {
        result.used_bytes = value(v2 ? "memory.current" : "memory.usage_in_bytes");
      }
      if (own_level) result.peak_bytes = value(v2 ? "memory.peak" : "memory.max_usage_in_bytes");
      own_level = false;
      if (path.size() <= folder.mount.size()) break;
      path.resize(std::max(path.rfind('/'), folder.mount.size()));
    }
    if (result.used_bytes || result.limit_bytes) break;
  }
  return result;
}

DefaultLimit default_limit(const CgroupMemory& cgroup, const MachineMemory& machine) {
  DefaultLimit limit;
  std::uint64_t room = machine.available_bytes;
  if (cgroup.limit_bytes) {
    const std::uint64_t used = cgroup.used_bytes.value_or(0);
    const std::uint64_t left = *cgroup.limit_bytes - std::min(*cgroup.limit_bytes, used);
    if (left < room) {
      room = left;
      limit.source = "cgroup";
    }
  }
  limit.bytes = room / 10 * 8;
  return limit;
}

}  // namespace plimsoll::memory
