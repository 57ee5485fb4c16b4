// The kernel as the ledger's second pair of eyes. Why it exists: when something takes memory behind
// the ledger's back, the command line shall end with an error that says who asked, not above the
// limit. May touch: budget.h, probe.h, RLIMIT_DATA.
//
// RLIMIT_DATA counts virtual bytes of private writable mappings: heap, blocks, thread stacks, .data
// and .bss; touched or not. It does not count program text, read-only mappings of files, and the
// main thread's stack. So the limit set is
//
//   what is data now  +  what the limit leaves (limit − resident)  +  slack
//
// and the slack covers data that is mapped and stays untouched: thread stacks, the heap's top.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "memory/budget.h"
#include "memory/probe.h"

namespace plimsoll::memory {

/// Mapped and mostly untouched at any time: the heap's top, rounding, the reserve of the C++
/// runtime for exceptions, buffers of the C library.
inline constexpr std::uint64_t backstop_slack_bytes = 4 * 1024 * 1024;

/// The value for RLIMIT_DATA. Pure function. `untouched_bytes`: mappings to come that will mostly
/// stay untouched, such as the stacks of threads (all of each).
[[nodiscard]] std::uint64_t backstop_data_limit(std::uint64_t limit_bytes, const ProcessMemory& now,
                                                std::uint64_t untouched_bytes) noexcept;

/// Sets the process's soft RLIMIT_DATA for `limit_bytes` over the whole process, and returns it.
/// Nothing is set, and nothing returned, in sanitizer builds (their shadow memory is data) and
/// where a stricter limit is set already. Throws Error(failure) when the kernel refuses.
std::optional<std::uint64_t> install_backstop(std::uint64_t limit_bytes,
                                              std::uint64_t untouched_bytes);

/// The sentence for a std::bad_alloc that nobody reserved for: "the heap is exhausted although …;
/// the last reservation was …".
[[nodiscard]] std::string describe_exhausted_heap(const Budget& budget);

}  // namespace plimsoll::memory
