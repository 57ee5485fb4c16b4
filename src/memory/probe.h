// What the kernel says. Why it exists: the ledger is a claim, the kernel's figures are the truth it
// is checked against. May touch: /proc, /sys/fs/cgroup. Nothing here ever writes to them (writing
// clear_refs would falsify VmHWM and /usr/bin/time alike). Reads use a buffer on the stack; only
// probe_cgroup allocates.
//
// How exact the kernel is: since Linux 6.2 the counters of a process are kept per CPU and summed up
// lazily. VmRSS may then lag by 64 pages times the square of the CPUs' number at worst (exact again
// from 6.17 on), VmHWM by the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace plimsoll::memory {

/// /proc/self/status, bytes. VmHWM is the peak resident set.
struct ProcessMemory {
  std::uint64_t peak_resident_bytes = 0;  // VmHWM
  std::uint64_t resident_bytes = 0;       // VmRSS
  std::uint64_t resident_anonymous_bytes = 0;
  std::uint64_t resident_file_bytes = 0;
  std::uint64_t resident_shared_bytes = 0;
  std::uint64_t data_virtual_bytes = 0;  // VmData, what RLIMIT_DATA counts
  std::uint32_t threads = 0;
};
/// Throws Error(failure) when /proc is not there.
[[nodiscard]] ProcessMemory probe_process();
/// The same for another process; nothing when it is gone.
[[nodiscard]] std::optional<ProcessMemory> probe_process(int pid);

/// /proc/self/smaps_rollup, bytes.
struct MappedMemory {
  std::uint64_t pss_bytes = 0;
  std::uint64_t private_bytes = 0;  // clean + dirty
  std::uint64_t shared_bytes = 0;
  std::uint64_t anonymous_huge_bytes = 0;
};
[[nodiscard]] std::optional<MappedMemory> probe_mappings();

/// The cgroup this process lives in, v2 or v1; absent fields where no limit or file exists. Limit
/// and use are those of the level, from the own group to the topmost visible ancestor, that leaves
/// the least room; without any limit the use is the own group's. v2's memory.high counts as a
/// limit: above it the kernel slows the process down.
struct CgroupMemory {
  std::optional<std::uint64_t> limit_bytes = std::nullopt;
  std::optional<std::uint64_t> used_bytes = std::nullopt;  // with page cache
  std::optional<std::uint64_t> reclaimable_bytes =
      std::nullopt;  // of that: file pages, as MemAvailable has them
  std::optional<std::uint64_t> peak_bytes =
      std::nullopt;  // counts page cache: shown, judges nothing
  int version = 0;   // 0: none found
};
[[nodiscard]] CgroupMemory probe_cgroup();

/// /proc/meminfo and /proc/pressure/memory.
struct MachineMemory {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;                         // MemAvailable
  std::optional<double> pressure_some_avg10 = std::nullopt;  // percent, PSI
  std::optional<double> pressure_full_avg10 = std::nullopt;
};
[[nodiscard]] MachineMemory probe_machine();

/// The limit used where the user gives none: 0.8 × min(cgroup limit − its use, MemAvailable). Page
/// cache is not use: the kernel drops it before it refuses memory, in a group as in the machine.
struct DefaultLimit {
  std::uint64_t bytes = 0;
  const char* source = "available";  // "cgroup" or "available"
};
/// Pure function of the probes, so that tests can feed it.
[[nodiscard]] DefaultLimit default_limit(const CgroupMemory& cgroup, const MachineMemory& machine);

}  // namespace plimsoll::memory
