#include "plimsoll/limit.h"

#include "memory/probe.h"
#include "memory/size.h"

namespace plimsoll {

std::uint64_t parse_limit(std::string_view text) {
  return memory::parse_size(text, memory::probe_machine().total_bytes);
}

std::string format_bytes(std::uint64_t bytes) {
  return memory::format_bytes(bytes);
}

}  // namespace plimsoll
