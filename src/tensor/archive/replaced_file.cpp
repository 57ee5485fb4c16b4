#include "tensor/archive/replaced_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

constexpr std::size_t largest_transfer = std::size_t{1} << 30;

[[noreturn]] void fail_path(const std::string& path, const char* cause) {
  fail_input(fmt::format("'{}' cannot be written: {}; check the path", path, cause));
}

/// Locked, and still what `part` names: its last writer may have renamed it between open and lock.
FileDescriptor open_locked(const std::string& path, const std::string& part) {
  while (true) {
    FileDescriptor file(::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file.is_open()) fail_path(path, std::strerror(errno));
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) fail_path(path, std::strerror(errno));
      fail_input(
          fmt::format("'{}' is being written by another process: wait for it or choose another "
                      "name",
                      path));
    }
    struct stat opened{};
    struct stat named{};
    if (::fstat(file.get(), &opened) != 0) fail_path(path, std::strerror(errno));
    if (!S_ISREG(opened.st_mode)) fail_path(part, "it is no regular file");
    if (::lstat(part.c_str(), &named) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev) {
      return file;
    }
  }
}

}  // namespace

ReplacedFile::ReplacedFile(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
  struct stat status{};
  if (::stat(path_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) fail_path(path_, std::strerror(EISDIR));
    if (!S_ISREG(status.st_mode)) fail_path(path_, "it is no regular file");
    if (::access(path_.c_str(), W_OK) != 0) fail_path(path_, std::strerror(errno));
  }
  file_ = open_locked(path_, part_);
  if (::ftruncate(file_.get(), 0) != 0) fail("emptied");
}

ReplacedFile::~ReplacedFile() {
  // Unlinked under the lock, so that it cannot be another writer's.
  if (file_.is_open() && !published_) ::unlink(part_.c_str());
}

void ReplacedFile::fail(const char* what) const {
  const int cause = errno;
  throw Error(ErrorKind::failure,
              fmt::format("'{}' cannot be {}: {}", part_, what, std::strerror(cause)));
}

void ReplacedFile::set_size(std::uint64_t bytes) {
  if (bytes > INT64_MAX || ::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) {
    if (bytes > INT64_MAX) errno = EFBIG;
    fail("given its size");
  }
}

void ReplacedFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(file_.get(), bytes.data(), std::min(bytes.size(), largest_transfer),
                 static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("written");
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void ReplacedFile::publish() {
  if (::fsync(file_.get()) != 0) fail("synced");
  if (std::rename(part_.c_str(), path_.c_str()) != 0) fail("renamed");
  published_ = true;
  const std::size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path_.substr(0, slash);
  // The name is durable once its folder is. Some file systems cannot sync folders: nothing to do.
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open() && ::fsync(opened.get()) != 0 && errno == EIO) fail("made durable");
}

}  // namespace plimsoll::tensor
