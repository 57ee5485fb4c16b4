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

// A transfer of more than this is split by the kernel anyway (MAX_RW_COUNT is 2 GiB less one page).
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

}  // namespace

SourceFile::SourceFile(Key, std::string path, FileDescriptor descriptor)
    : path_(std::move(path)), descriptor_(std::move(descriptor)) {
  struct stat status{};
  if (::fstat(descriptor_.get(), &status) != 0) {
    throw Error(ErrorKind::failure,
                fmt::format("'{}' cannot be examined: {}", path_, std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    fail_input(S_ISDIR(status.st_mode)
                   ? fmt::format("'{}' is a directory: give the path of a file in it", path_)
                   : fmt::format("'{}' is not a regular file: copy its contents to a file", path_));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  modified_ = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

std::shared_ptr<const SourceFile> SourceFile::open(const std::string& path) {
  // O_NONBLOCK: a pipe is then refused below, not waited for.
  FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!descriptor.is_open()) fail_to_open(path, errno);
  return std::make_shared<const SourceFile>(Key{}, path, std::move(descriptor));
}

std::shared_ptr<const SourceFile> SourceFile::open_below(const std::string& folder,
                                                         const std::string& location) {
  return std::make_shared<const SourceFile>(Key{}, fmt::format("{}/{}", folder, location),
                                            open_descriptor_below(folder, location));
}

std::shared_ptr<const SourceFile> SourceFile::from_memory(std::string name,
                                                          std::span<const std::byte> bytes) {
  const auto fail = [&] {
    throw Error(ErrorKind::failure, fmt::format("'{}' cannot be kept in a memory file: {}", name,
                                                std::strerror(errno)));
  };
  FileDescriptor descriptor(::memfd_create("plimsoll", MFD_CLOEXEC));
  if (!descriptor.is_open()) fail();
  // The size is taken by the constructor, so the bytes go in first.
  while (!bytes.empty()) {
    const std::size_t some = std::min(bytes.size(), largest_transfer);
    const ssize_t written = ::write(descriptor.get(), bytes.data(), some);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return std::make_shared<const SourceFile>(Key{}, std::move(name), std::move(descriptor));
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
        ::pread(descriptor_.get(), destination.data(),
                std::min(destination.size(), largest_transfer), static_cast<off_t>(offset));
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
