// What is known of a file, and its times. Why it exists: calls by descriptor and by path share it.
// May touch: abi.h, sys/stat.h.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <expected>
#include <span>

#include "wasm/wasi/abi.h"

namespace plimsoll::wasm::wasi {

/// Writes `filestat_bytes`.
void store_status(std::span<std::byte> into, const struct stat& status) noexcept;

/// For utimensat, from the guest's nanoseconds and flags; Errno::invalid for flags that contradict.
[[nodiscard]] std::expected<std::array<timespec, 2>, Errno> file_times(
    std::uint64_t accessed, std::uint64_t modified, std::uint32_t flags) noexcept;

}  // namespace plimsoll::wasm::wasi
