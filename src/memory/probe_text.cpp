#include "memory/probe_text.h"

#include <charconv>

namespace plimsoll::memory {

std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return head;
}

std::optional<std::uint64_t> leading_number(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

namespace {

/// The number of a "Name:   123 kB" line, in the line's unit.
std::optional<std::uint64_t> field(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      return leading_number(line.substr(name.size() + 1));
    }
  }
  return std::nullopt;
}

/// The same in bytes; 0 where it is missing, the largest number where it would wrap.
std::uint64_t kilobytes(std::string_view text, std::string_view name) {
  const std::uint64_t value = field(text, name).value_or(0);
  return value > UINT64_MAX / 1024 ? UINT64_MAX : value * 1024;
}

/// Sums that stop at the largest number.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

std::optional<double> pressure_average(std::string_view text, std::string_view kind) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
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

}  // namespace

std::optional<ProcessMemory> parse_process_status(std::string_view text) {
  if (!field(text, "VmRSS")) return std::nullopt;
  ProcessMemory memory;
  memory.resident_bytes = kilobytes(text, "VmRSS");
  memory.peak_resident_bytes = kilobytes(text, "VmHWM");
  memory.resident_anonymous_bytes = kilobytes(text, "RssAnon");
  memory.resident_file_bytes = kilobytes(text, "RssFile");
  memory.resident_shared_bytes = kilobytes(text, "RssShmem");
  memory.data_virtual_bytes = kilobytes(text, "VmData");
  memory.threads = static_cast<std::uint32_t>(field(text, "Threads").value_or(0));
  return memory;
}

std::optional<MappedMemory> parse_smaps_rollup(std::string_view text) {
  if (!field(text, "Pss")) return std::nullopt;
  MappedMemory memory;
  memory.pss_bytes = kilobytes(text, "Pss");
  memory.private_bytes = sum(kilobytes(text, "Private_Clean"), kilobytes(text, "Private_Dirty"));
  memory.shared_bytes = sum(kilobytes(text, "Shared_Clean"), kilobytes(text, "Shared_Dirty"));
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

}  // namespace plimsoll::memory
