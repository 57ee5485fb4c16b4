#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <optional>

#include "wasm/wasi/calls.h"
#include "wasm/wasi/file_status.h"

namespace plimsoll::wasm::wasi {
namespace {

constexpr auto most_offset = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());

Errno result_of(int done) {
  return done == 0 ? Errno::success : errno_of(errno);
}

FileType type_of_entry(unsigned char type) {
  return type_of_mode(static_cast<std::uint32_t>(DTTOIF(type)));
}

/// A guest's buffer that fills up.
class EntryWriter {
 public:
  explicit EntryWriter(std::span<std::byte> space) : space_(space) {}

  /// False when there is no room left; the last entry is cut then, as the interface wants it.
  bool add(const dirent64& entry) {
    const std::string_view name(static_cast<const char*>(entry.d_name));
    std::array<std::byte, dirent_bytes> head{};
    store(std::span(head), 0, static_cast<std::uint64_t>(entry.d_off));
    // The folder above may lie outside: its number is nobody's business.
    store(std::span(head), 8, name == ".." ? std::uint64_t{0} : std::uint64_t{entry.d_ino});
    store(std::span(head), 16, static_cast<std::uint32_t>(name.size()));
    store(std::span(head), 20, static_cast<std::uint8_t>(type_of_entry(entry.d_type)));
    append(head);
    append(std::as_bytes(std::span(name)));
    return used_ < space_.size();
  }
  [[nodiscard]] std::uint32_t used() const noexcept { return static_cast<std::uint32_t>(used_); }

 private:
  void append(std::span<const std::byte> bytes) {
    const std::size_t count = std::min(bytes.size(), space_.size() - used_);
    std::ranges::copy(bytes.first(count), space_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += count;
  }

  std::span<std::byte> space_;
  std::size_t used_ = 0;
};

std::optional<int> host_advice(std::uint32_t advice) {
  static constexpr std::array<int, 6> table = {POSIX_FADV_NORMAL,   POSIX_FADV_SEQUENTIAL,
                                               POSIX_FADV_RANDOM,   POSIX_FADV_WILLNEED,
                                               POSIX_FADV_DONTNEED, POSIX_FADV_NOREUSE};
  if (advice >= table.size()) return std::nullopt;
  return table[advice];
}

}  // namespace

Errno fd_advise(State& state, Number file, std::uint64_t offset, std::uint64_t length,
                std::uint32_t advice) {
  const auto found = state.descriptors.find(file, rights::advise);
  if (!found) return found.error();
  const auto host = host_advice(advice);
  if (!host || offset > most_offset || length > most_offset) return Errno::invalid;
  const int error = ::posix_fadvise((*found)->file.number(), static_cast<off_t>(offset),
                                    static_cast<off_t>(length), *host);
  return error == 0 ? Errno::success : errno_of(error);
}

Errno fd_allocate(State& state, Number file, std::uint64_t offset, std::uint64_t length) {
  const auto found = state.descriptors.find(file, rights::allocate);
  if (!found) return found.error();
  if (length == 0) return Errno::invalid;
  if (offset > most_offset || length > most_offset - offset) return Errno::file_too_big;
  // Not posix_fallocate: where the file system cannot, that one writes every block.
  return result_of(::fallocate((*found)->file.number(), 0, static_cast<off_t>(offset),
                               static_cast<off_t>(length)));
}

Errno fd_sync(State& state, Number file) {
  const auto found = state.descriptors.find(file, rights::sync);
  return found ? result_of(::fsync((*found)->file.number())) : found.error();
}

Errno fd_datasync(State& state, Number file) {
  const auto found = state.descriptors.find(file, rights::datasync);
  return found ? result_of(::fdatasync((*found)->file.number())) : found.error();
}

Errno fd_filestat_get(State& state, Number file, Address result) {
  const auto found = state.descriptors.find(file, rights::filestat_get);
  if (!found) return found.error();
  const auto into = state.view().bytes(result, filestat_bytes);
  if (!into) return Errno::fault;
  struct stat status{};
  if (::fstat((*found)->file.number(), &status) != 0) return errno_of(errno);
  store_status(*into, status);
  return Errno::success;
}

Errno fd_filestat_set_size(State& state, Number file, std::uint64_t size) {
  const auto found = state.descriptors.find(file, rights::filestat_set_size);
  if (!found) return found.error();
  if (size > most_offset) return Errno::invalid;
  return result_of(::ftruncate((*found)->file.number(), static_cast<off_t>(size)));
}

Errno fd_filestat_set_times(State& state, Number file, std::uint64_t accessed,
                            std::uint64_t modified, std::uint32_t flags) {
  const auto found = state.descriptors.find(file, rights::filestat_set_times);
  if (!found) return found.error();
  const auto times = file_times(accessed, modified, flags);
  if (!times) return times.error();
  return result_of(::futimens((*found)->file.number(), times->data()));
}

Errno fd_readdir(State& state, Number file, Address buffer, Length size, std::uint64_t cookie,
                 Address result) {
  const auto found = state.descriptors.find(file, rights::readdir);
  if (!found) return found.error();
  const auto space = state.view().bytes(buffer, size);
  if (!space || !state.view().bytes(result, sizeof(std::uint32_t))) return Errno::fault;
  if (cookie > most_offset) return Errno::invalid;
  // Cookies are the kernel's own positions, so that nothing has to be kept between calls.
  const int host = (*found)->file.number();
  if (::lseek(host, static_cast<off_t>(cookie), SEEK_SET) < 0) return errno_of(errno);
  EntryWriter writer(*space);
  bool has_room = size != 0;
  constexpr std::size_t piece = 4096;
  alignas(dirent64) std::array<char, piece> entries{};
  while (has_room) {
    const long got = ::syscall(SYS_getdents64, host, entries.data(), entries.size());
    if (got < 0) return errno_of(errno);
    if (got == 0) break;
    for (std::size_t at = 0; has_room && at < static_cast<std::size_t>(got);) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      has_room = writer.add(*entry);
      at += entry->d_reclen;
    }
  }
  return state.view().write(result, writer.used()) ? Errno::success : Errno::fault;
}

}  // namespace plimsoll::wasm::wasi
