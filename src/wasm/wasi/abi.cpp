#include "wasm/wasi/abi.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace plimsoll::wasm::wasi {

Errno errno_of(int system_error) noexcept {
  static constexpr std::array<std::pair<int, Errno>, 37> table{{
      {E2BIG, Errno::too_big},
      {EACCES, Errno::access},
      {EAGAIN, Errno::again},
      {EBADF, Errno::bad_descriptor},
      {EBUSY, Errno::busy},
      {EDQUOT, Errno::quota},
      {EEXIST, Errno::exists},
      {EFAULT, Errno::fault},
      {EFBIG, Errno::file_too_big},
      {EILSEQ, Errno::illegal_bytes},
      {EINTR, Errno::interrupted},
      {EINVAL, Errno::invalid},
      {EIO, Errno::io},
      {EISDIR, Errno::is_directory},
      {ELOOP, Errno::loop},
      {EMFILE, Errno::descriptors_of_process},
      {EMLINK, Errno::too_many_links},
      {ENAMETOOLONG, Errno::name_too_long},
      {ENFILE, Errno::descriptors_of_system},
      {ENODEV, Errno::no_device},
      {ENOENT, Errno::no_entry},
      {ENOMEM, Errno::no_memory},
      {ENOSPC, Errno::no_space},
      {ENOSYS, Errno::no_system_call},
      {ENOTDIR, Errno::not_directory},
      {ENOTEMPTY, Errno::not_empty},
      {ENOTSOCK, Errno::not_socket},
      {EOPNOTSUPP, Errno::not_supported},
      {ENOTTY, Errno::not_terminal},
      {ENXIO, Errno::no_such_device},
      {EOVERFLOW, Errno::overflow},
      {EPERM, Errno::not_permitted},
      {EPIPE, Errno::pipe},
      {ERANGE, Errno::range},
      {EROFS, Errno::read_only},
      {ESPIPE, Errno::no_seek},
      {ETXTBSY, Errno::text_busy},
  }};
  // openat2 says so of a path that would leave its directory.
  if (system_error == EXDEV) return Errno::crosses_devices;
  const auto* const found = std::ranges::find(table, system_error, &std::pair<int, Errno>::first);
  return found == table.end() ? Errno::io : found->second;
}

}  // namespace plimsoll::wasm::wasi
