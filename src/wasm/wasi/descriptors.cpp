#include "wasm/wasi/descriptors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "plimsoll/error.h"
#include "wasm/wasi/paths.h"

namespace plimsoll::wasm::wasi {

HostFile::~HostFile() {
  if (is_owned_ && number_ >= 0) ::close(number_);
}

std::expected<std::uint32_t, Errno> DescriptorTable::insert(Descriptor descriptor) {
  std::size_t number = 0;
  while (number < entries_.size() && entries_[number] != nullptr) ++number;
  if (number == most) return std::unexpected(Errno::descriptors_of_process);
  auto entry = std::make_unique<Descriptor>(std::move(descriptor));
  if (number == entries_.size()) {
    entries_.push_back(std::move(entry));
  } else {
    entries_[number] = std::move(entry);
  }
  return static_cast<std::uint32_t>(number);
}

std::expected<Descriptor*, Errno> DescriptorTable::find(std::uint32_t number, Rights needed) {
  if (number >= entries_.size() || entries_[number] == nullptr) {
    return std::unexpected(Errno::bad_descriptor);
  }
  Descriptor* const found = entries_[number].get();
  if ((found->rights & needed) != needed) return std::unexpected(Errno::not_capable);
  return found;
}

Errno DescriptorTable::close(std::uint32_t number) {
  if (const auto found = find(number, 0); !found) return found.error();
  entries_[number] = nullptr;
  return Errno::success;
}

Errno DescriptorTable::renumber(std::uint32_t from, std::uint32_t to) {
  if (const auto found = find(from, 0); !found) return found.error();
  if (const auto found = find(to, 0); !found) return found.error();
  if (from != to) entries_[to] = std::move(entries_[from]);
  return Errno::success;
}

FileType type_of_mode(std::uint32_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFBLK:
      return FileType::block_device;
    case S_IFCHR:
      return FileType::character_device;
    case S_IFDIR:
      return FileType::directory;
    case S_IFREG:
      return FileType::regular_file;
    case S_IFSOCK:
      return FileType::stream_socket;
    case S_IFLNK:
      return FileType::symbolic_link;
    default:
      return FileType::unknown;  // preview 1 has no word for a pipe
  }
}

Descriptor standard_stream(int host_number, bool is_input) {
  Descriptor stream;
  stream.file = HostFile::borrowed(host_number);
  struct stat status{};
  if (::fstat(host_number, &status) == 0) stream.type = type_of_mode(status.st_mode);
  // A terminal is told by its type and by the lack of seek and tell.
  stream.rights = (is_input ? rights::read : rights::write) | rights::set_flags |
                  rights::filestat_get | rights::poll;
  if (stream.type == FileType::regular_file) stream.rights |= rights::seek | rights::tell;
  return stream;
}

Descriptor given_directory(const std::string& host, const std::string& guest) {
  const int opened = ::open(host.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) {
    fail_input(fmt::format("'{}' cannot be given to the guest as a directory: {}", host,
                           std::generic_category().message(errno)));
  }
  Descriptor directory;
  directory.file = HostFile::owned(opened);
  require_confinement(opened);
  directory.type = FileType::directory;
  directory.rights = rights::of_directory;
  directory.inheriting = rights::of_directory | rights::of_file;
  directory.preopened = guest;
  return directory;
}

}  // namespace plimsoll::wasm::wasi
