#include "wasm/wasi/file_status.h"

#include <cstring>

#include "wasm/wasi/descriptors.h"
#include "wasm/wasi/guest_view.h"

namespace plimsoll::wasm::wasi {
namespace {

constexpr std::uint64_t nanoseconds_in_second = 1'000'000'000;

std::uint64_t nanoseconds(const timespec& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * nanoseconds_in_second +
         static_cast<std::uint64_t>(time.tv_nsec);
}

timespec chosen(std::uint64_t time, bool is_given, bool is_now) noexcept {
  if (is_now) return {.tv_sec = 0, .tv_nsec = UTIME_NOW};
  if (!is_given) return {.tv_sec = 0, .tv_nsec = UTIME_OMIT};
  return {.tv_sec = static_cast<time_t>(time / nanoseconds_in_second),
          .tv_nsec = static_cast<long>(time % nanoseconds_in_second)};
}

}  // namespace

void store_status(std::span<std::byte> into, const struct stat& status) noexcept {
  std::memset(into.data(), 0, filestat_bytes);
  store(into, 0, static_cast<std::uint64_t>(status.st_dev));
  store(into, 8, static_cast<std::uint64_t>(status.st_ino));
  store(into, 16, static_cast<std::uint8_t>(type_of_mode(status.st_mode)));
  store(into, 24, static_cast<std::uint64_t>(status.st_nlink));
  store(into, 32, static_cast<std::uint64_t>(status.st_size));
  store(into, 40, nanoseconds(status.st_atim));
  store(into, 48, nanoseconds(status.st_mtim));
  store(into, 56, nanoseconds(status.st_ctim));
}

std::expected<std::array<timespec, 2>, Errno> file_times(std::uint64_t accessed,
                                                         std::uint64_t modified,
                                                         std::uint32_t flags) noexcept {
  const bool accessed_given = (flags & 1U) != 0;
  const bool accessed_now = (flags & 2U) != 0;
  const bool modified_given = (flags & 4U) != 0;
  const bool modified_now = (flags & 8U) != 0;
  if (flags > 15U || (accessed_given && accessed_now) || (modified_given && modified_now)) {
    return std::unexpected(Errno::invalid);
  }
  return std::array{chosen(accessed, accessed_given, accessed_now),
                    chosen(modified, modified_given, modified_now)};
}

}  // namespace plimsoll::wasm::wasi
