#include "tensor/archive/source_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"
#include "tensor/archive/open_below.h"

namespace plimsoll::tensor {
namespace {

// A read of more than this is split by the kernel anyway (MAX_RW_COUNT is 2 GiB less one page).
constexpr std::size_t largest_read = std::size_t{1} << 30;

}  // namespace

SourceFile::SourceFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) {
    const int error = errno;
    ::close(descriptor_);
    throw Error(ErrorKind::failure,
                fmt::format("'{}' cannot be examined: {}", path_, std::strerror(error)));
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail_input(S_ISDIR(status.st_mode)
                   ? fmt::format("'{}' is a directory: give the path of a file in it", path_)
                   : fmt::format("'{}' is not a regular file: copy its contents to a file", path_));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  modified_ = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

SourceFile::~SourceFile() {
  ::close(descriptor_);
}

std::shared_ptr<const SourceFile> SourceFile::open(const std::string& path) {
  // O_NONBLOCK: a pipe is then refused below, not waited for.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) fail_to_open(path, errno);
  return std::shared_ptr<const SourceFile>(new SourceFile(path, descriptor));
}

std::shared_ptr<const SourceFile> SourceFile::open_below(const std::string& folder,
                                                         const std::string& location) {
  const int descriptor = open_descriptor_below(folder, location);
  return std::shared_ptr<const SourceFile>(
      new SourceFile(fmt::format("{}/{}", folder, location), descriptor));
}

std::shared_ptr<const SourceFile> SourceFile::from_memory(std::string name,
                                                          std::span<const std::byte> bytes) {
  const int descriptor = ::memfd_create("plimsoll", MFD_CLOEXEC);
  if (descriptor < 0) {
    throw Error(ErrorKind::failure, fmt::format("'{}' cannot be kept in a memory file: {}", name,
                                                std::strerror(errno)));
  }
  // The size is taken by the constructor, so the bytes go in first.
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), largest_read));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = errno;
      ::close(descriptor);
      throw Error(ErrorKind::failure, fmt::format("'{}' cannot be kept in a memory file: {}", name,
                                                  std::strerror(error)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return std::shared_ptr<const SourceFile>(new SourceFile(std::move(name), descriptor));
}

void SourceFile::read(std::uint64_t offset, std::span<std::byte> destination) const {
  if (offset > size_ || destination.size() > size_ - offset) {
    fail_input(
        fmt::format("'{}' has {} bytes, but {} bytes at offset {} are needed: the file was "
                    "cut; fetch it again",
                    path_, size_, destination.size(), offset));
  }
  while (!destination.empty()) {
    const ssize_t got =
        ::pread(descriptor_, destination.data(), std::min(destination.size(), largest_read),
                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw Error(ErrorKind::failure, fmt::format("'{}' cannot be read at offset {}: {}", path_,
                                                  offset, std::strerror(errno)));
    }
    if (got == 0) {
      fail_input(
          fmt::format("'{}' ends at offset {}, it had {} bytes when it was opened: it was "
                      "cut meanwhile; fetch it again",
                      path_, offset, size_));
    }
    offset += static_cast<std::uint64_t>(got);
    destination = destination.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace plimsoll::tensor
