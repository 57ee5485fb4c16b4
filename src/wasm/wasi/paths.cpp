#include "wasm/wasi/paths.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "plimsoll/error.h"

namespace plimsoll::wasm::wasi {
namespace {

/// The kernel gives up with EAGAIN when something was renamed while it walked over "..".
constexpr int most_attempts = 32;

int openat2(int directory, const std::string& path, int flags, std::uint32_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags) | O_CLOEXEC;
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  int attempts = 0;
  while (true) {
    const long opened = ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how));
    if (opened >= 0) return static_cast<int>(opened);
    if (errno != EINTR && (errno != EAGAIN || ++attempts == most_attempts)) return -1;
  }
}

}  // namespace

std::expected<std::string, Errno> path_of(const GuestView& view, std::uint32_t address,
                                          std::uint32_t length) {
  const auto text = view.text(address, length);
  if (!text) return std::unexpected(Errno::fault);
  if (text->empty()) return std::unexpected(Errno::no_entry);
  if (text->size() >= PATH_MAX) return std::unexpected(Errno::name_too_long);
  std::string path(*text);
  // Looked for in the copy: another thread of the guest may write meanwhile.
  if (path.find('\0') != std::string::npos) return std::unexpected(Errno::invalid);
  return path;
}

std::expected<HostFile, Errno> open_beneath(int directory, const std::string& path, int flags,
                                            std::uint32_t mode) {
  const int opened = openat2(directory, path, flags, mode);
  if (opened >= 0) return HostFile::owned(opened);
  return std::unexpected(errno == EXDEV ? Errno::not_permitted : errno_of(errno));
}

std::expected<Entry, Errno> locate(int directory, const std::string& path) {
  if (path.starts_with('/')) return std::unexpected(Errno::not_permitted);
  const std::size_t end = path.find_last_not_of('/') + 1;
  const std::size_t slash = path.rfind('/', end - 1);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  Entry entry;
  entry.must_be_directory = end != path.size();
  entry.name = path.substr(begin, end - begin);
  auto folder =
      open_beneath(directory, begin == 0 ? "." : path.substr(0, begin), O_PATH | O_DIRECTORY);
  if (!folder) return std::unexpected(folder.error());
  if (entry.name == "." || entry.name == "..") return std::unexpected(Errno::busy);
  entry.folder = std::move(*folder);
  return entry;
}

void require_confinement(int directory) {
  const int opened = openat2(directory, ".", O_PATH | O_DIRECTORY, 0);
  if (opened >= 0) {
    ::close(opened);
    return;
  }
  fail_unsupported(
      "a directory cannot be given to a guest here: the kernel has no openat2 (Linux 5.6), or a "
      "sandbox forbids it; without it a guest could leave the directory");
}

}  // namespace plimsoll::wasm::wasi
