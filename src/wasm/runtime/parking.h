// Threads that wait for an address. Why it exists: memory.atomic.wait and notify, for any memory of
// the process. May touch: the standard library.
#pragma once

#include <cstdint>
#include <functional>

namespace plimsoll::wasm {

enum class WaitResult : std::uint8_t { woken = 0, not_equal = 1, timed_out = 2 };

/// Sleeps until notify() of the same address, unless `is_equal` is false; it is asked with the lock
/// held, so no notification is lost in between. `nanoseconds` below zero: without an end.
[[nodiscard]] WaitResult wait_at(const void* address, const std::function<bool()>& is_equal,
                                 std::int64_t nanoseconds);
/// Wakes at most `count` that wait there; returns how many.
[[nodiscard]] std::uint32_t notify_at(const void* address, std::uint32_t count);

}  // namespace plimsoll::wasm
