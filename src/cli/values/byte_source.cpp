#include "cli/values/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::cli {

void ByteSource::read(std::span<std::byte> destination) {
  if (destination.size() > remaining()) {
    fail_input(fmt::format("'{}' ends too early: {} more bytes are needed, {} are left", name_,
                           destination.size(), remaining()));
  }
  if (destination.empty()) return;
  read_some(destination);
  position_ += destination.size();
}

// O_NONBLOCK: opening a named pipe must not wait for somebody to write to it.
InputFile::InputFile(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_.number < 0) {
    fail_input(
        fmt::format("'{}' cannot be opened: {}; check the path", path, std::strerror(errno)));
  }
  struct stat status{};
  const bool known = ::fstat(descriptor_.number, &status) == 0;
  if (known && S_ISDIR(status.st_mode)) {
    fail_input(fmt::format("'{}' is a directory; give a file", path));
  }
  if (!known || !S_ISREG(status.st_mode)) {
    fail_input(fmt::format("'{}' is no regular file; copy what it gives to one", path));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::Descriptor::~Descriptor() {
  if (number >= 0) ::close(number);
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> destination) const {
  while (!destination.empty()) {
    // Linux reads at most 2^31 − 4096 bytes at once.
    const std::size_t piece = std::min<std::size_t>(destination.size(), std::size_t{1} << 30);
    const ssize_t count =
        ::pread(descriptor_.number, destination.data(), piece, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(ErrorKind::failure,
                  fmt::format("'{}' cannot be read: {}", path_, std::strerror(errno)));
    }
    if (count == 0) fail_input(fmt::format("'{}' became shorter while it was read", path_));
    destination = destination.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void FileRange::read_some(std::span<std::byte> destination) {
  file_->read(offset_, destination);
  offset_ += destination.size();
}

}  // namespace plimsoll::cli
