#include "memory/backstop.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "memory/size.h"
#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace

std::uint64_t backstop_data_limit(std::uint64_t limit_bytes, const ProcessMemory& now,
                                  std::uint64_t untouched_bytes) noexcept {
  const std::uint64_t left = limit_bytes - std::min(limit_bytes, now.resident_bytes);
  return sum(sum(now.data_virtual_bytes, left), sum(backstop_slack_bytes, untouched_bytes));
}

std::optional<std::uint64_t> install_backstop(std::uint64_t limit_bytes,
                                              std::uint64_t untouched_bytes) {
#ifdef PLIMSOLL_SANITIZED
  static_cast<void>(limit_bytes);
  static_cast<void>(untouched_bytes);
  return std::nullopt;
#else
  const std::uint64_t wanted = backstop_data_limit(limit_bytes, probe_process(), untouched_bytes);
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) == 0) {
    if (limit.rlim_cur <= wanted) return std::nullopt;
    limit.rlim_cur = wanted;  // the hard limit stays: whoever set it may raise the soft one again
    if (setrlimit(RLIMIT_DATA, &limit) == 0) return wanted;
  }
  throw Error(ErrorKind::failure, fmt::format("the limit on data (RLIMIT_DATA) cannot be set to {} "
                                              "bytes: {}",
                                              wanted, std::strerror(errno)));
#endif
}

std::string describe_exhausted_heap(const Budget& budget) {
  const LastClaim last = budget.last_claim();
  std::string text = "the heap is exhausted: more memory was needed than the ledger knows of";
  if (last.root_limit_bytes == 0) return text;
  if (last.purpose[0] != '\0') {
    text += fmt::format("; the last reservation was {} for {}", format_bytes(last.bytes),
                        last.purpose.data());
  }
  text +=
      fmt::format(", with {} of {} reserved before it", format_bytes(last.root_used_bytes),
                  last.root_limit_bytes == Budget::unlimited ? std::string("no limit")
                                                             : format_bytes(last.root_limit_bytes));
  return text;
}

}  // namespace plimsoll::memory
