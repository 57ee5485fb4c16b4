#include "memory/probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "memory/cgroup_text.h"
#include "memory/probe_text.h"
#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

/// An open file, closed at the end.
struct OpenFile {
  explicit OpenFile(const char* path) : descriptor(open(path, O_RDONLY | O_CLOEXEC)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor >= 0) close(descriptor);
  }
  /// Bytes read; 0 at the end and where the file cannot be read.
  [[nodiscard]] std::size_t read_some(std::span<char> buffer) const {
    ssize_t got = -1;
    do {
      got = read(descriptor, buffer.data(), buffer.size());
    } while (got < 0 && errno == EINTR);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  int descriptor;
};

/// Reads a small file of /proc or /sys into `buffer`; empty when it cannot be read.
std::string_view read_file(const char* path, std::span<char> buffer) {
  const OpenFile file(path);
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const std::size_t got = file.read_some(buffer.subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  return {buffer.data(), filled};
}

/// The lines of /proc/self/mountinfo about cgroups. A host of containers has thousands of others.
std::string cgroup_mounts() {
  std::string result;
  const OpenFile file("/proc/self/mountinfo");
  std::array<char, 8192> buffer{};
  std::string line;
  while (const std::size_t got = file.read_some(buffer)) {
    std::string_view text(buffer.data(), got);
    while (!text.empty()) {
      const bool whole = text.find('\n') != std::string_view::npos;
      line += take_until(text, '\n');
      if (!whole) break;
      if (line.find(" - cgroup") != std::string::npos) result += line + "\n";
      line.clear();
    }
  }
  return result;
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
  const auto text_of = [](const std::string& path) {
    std::array<char, 8192> buffer{};
    return std::string(read_file(path.c_str(), buffer));
  };
  return read_cgroup(find_cgroup_folders(text_of("/proc/self/cgroup"), cgroup_mounts()), text_of);
}

DefaultLimit default_limit(const CgroupMemory& cgroup, const MachineMemory& machine) {
  DefaultLimit limit;
  std::uint64_t room = machine.available_bytes;
  if (cgroup.limit_bytes) {
    const std::uint64_t taken = cgroup.used_bytes.value_or(0);
    const std::uint64_t used = taken - std::min(taken, cgroup.reclaimable_bytes.value_or(0));
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
