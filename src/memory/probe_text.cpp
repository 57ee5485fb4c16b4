#include "memory/probe_text.h"

#include <charconv>

namespace plimsoll::memory {
namespace {

/// Takes the text up to `separator` off the front.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return head;
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

/// The number of a "Name:   123 kB" line, in the line's unit.
std::optional<std::uint64_t> field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      return leading_number(line.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

std::uint64_t kilobytes(std::string_view text, std::string_view name) {
  return field(text, name).value_or(0) * 1024;
}

std::optional<double> pressure_average(std::string_view text, std::string_view kind) {
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    if (!line.starts_with(kind)) continue;
    const std::size_t at = line.find("avg10=");
    if (at == std::string_view::npos) return std::nullopt;
    double value = 0;
    line.remove_prefix(at + 6);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc{}) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

/// "memory" in "cpu,memory".
bool lists(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    if (take(controllers, ',') == wanted) return true;
  }
  return false;
}

}  // namespace

std::optional<ProcessMemory> parse_process_status(std::string_view text) {
  const auto resident = field(text, "VmRSS");
  if (!resident) return std::nullopt;
  ProcessMemory memory;
  memory.resident_bytes = *resident * 1024;
  memory.peak_resident_bytes = kilobytes(text, "VmHWM");
  memory.resident_anonymous_bytes = kilobytes(text, "RssAnon");
  memory.resident_file_bytes = kilobytes(text, "RssFile");
  memory.resident_shared_bytes = kilobytes(text, "RssShmem");
  memory.data_virtual_bytes = kilobytes(text, "VmData");
  memory.threads = static_cast<std::uint32_t>(field(text, "Threads").value_or(0));
  return memory;
}

std::optional<MappedMemory> parse_smaps_rollup(std::string_view text) {
  const auto pss = field(text, "Pss");
  if (!pss) return std::nullopt;
  MappedMemory memory;
  memory.pss_bytes = *pss * 1024;
  memory.private_bytes = kilobytes(text, "Private_Clean") + kilobytes(text, "Private_Dirty");
  memory.shared_bytes = kilobytes(text, "Shared_Clean") + kilobytes(text, "Shared_Dirty");
  memory.anonymous_huge_bytes = kilobytes(text, "AnonHugePages");
  return memory;
}

MachineMemory parse_meminfo(std::string_view text) {
  MachineMemory machine;
  machine.total_bytes = kilobytes(text, "MemTotal");
  machine.available_bytes = kilobytes(text, "MemAvailable");
  return machine;
}

void parse_pressure(std::string_view text, MachineMemory& machine) {
  machine.pressure_some_avg10 = pressure_average(text, "some");
  machine.pressure_full_avg10 = pressure_average(text, "full");
}

std::optional<std::uint64_t> parse_cgroup_value(std::string_view text) {
  const auto value = leading_number(text);
  if (!value || *value >= (std::uint64_t{1} << 62)) return std::nullopt;
  return value;
}

std::vector<CgroupFolder> find_cgroup_folders(std::string_view cgroup, std::string_view mountinfo) {
  std::string_view own_v1;
  std::string_view own_v2;
  while (!cgroup.empty()) {  // "4:memory:/path" or "0::/path"
    std::string_view line = take(cgroup, '\n');
    const std::string_view hierarchy = take(line, ':');
    const std::string_view controllers = take(line, ':');
    if (hierarchy == "0" && controllers.empty()) own_v2 = line;
    if (lists(controllers, "memory")) own_v1 = line;
  }
  std::vector<CgroupFolder> folders;
  while (!mountinfo.empty()) {
    // "36 35 98:0 /root /mount options shared:1 - type source super-options"
    std::string_view line = take(mountinfo, '\n');
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view tail = line.substr(dash + 3);
    const std::string_view type = take(tail, ' ');
    take(tail, ' ');
    const bool v2 = type == "cgroup2" && !own_v2.empty();
    const bool v1 = type == "cgroup" && lists(tail, "memory") && !own_v1.empty();
    if (!v1 && !v2) continue;
    for (int skipped = 0; skipped < 3; ++skipped) take(line, ' ');
    const std::string_view root = take(line, ' ');
    const std::string_view mount = take(line, ' ');
    // In a container the mount shows only the part below `root` of the hierarchy.
    std::string_view own = v2 ? own_v2 : own_v1;
    if (root != "/" && own.starts_with(root)) own.remove_prefix(root.size());
    if (own.find("..") != std::string_view::npos || own == "/") own = {};
    CgroupFolder folder{v2 ? 2 : 1, std::string(mount), std::string(mount) + std::string(own)};
    folders.insert(v1 ? folders.begin() : folders.end(), std::move(folder));
  }
  return folders;
}

}  // namespace plimsoll::memory
