#include "tensor/archive/source_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"

namespace plimsoll::tensor {

SourceFile::SourceFile(std::string path, int descriptor, std::uint64_t size, std::int64_t modified)
    : path_(std::move(path)), descriptor_(descriptor), size_(size), modified_(modified) {}

SourceFile::~SourceFile() {
  close(descriptor_);
}

std::shared_ptr<const SourceFile> SourceFile::open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer; it has no effect on regular files.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    fail_input(fmt::format("'{}' cannot be opened: {}", path, std::strerror(errno)));
  }
  struct stat status{};
  const bool known = fstat(descriptor, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    close(descriptor);
    fail_input(fmt::format("'{}' is {}, not a file that can be read", path,
                           known && S_ISDIR(status.st_mode) ? "a directory" : "no regular file"));
  }
  const std::int64_t modified =
      std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return std::shared_ptr<const SourceFile>(
      new SourceFile(path, descriptor, static_cast<std::uint64_t>(status.st_size), modified));
}

void SourceFile::read(std::uint64_t offset, std::span<std::byte> destination) const {
  if (offset > size_ || destination.size() > size_ - offset) {
    fail_input(fmt::format("'{}' ends at byte {}, but bytes {} to {} are needed: the file was cut",
                           path_, size_, offset, offset + destination.size()));
  }
  std::size_t done = 0;
  while (done < destination.size()) {
    const ssize_t got = pread(descriptor_, destination.data() + done, destination.size() - done,
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw Error(ErrorKind::failure, fmt::format("'{}' cannot be read at byte {}: {}", path_,
                                                  offset + done, std::strerror(errno)));
    }
    if (got == 0) {
      fail_input(fmt::format("'{}' ended at byte {} while it was read: the file was cut", path_,
                             offset + done));
    }
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace plimsoll::tensor
