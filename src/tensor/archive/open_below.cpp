#include "tensor/archive/open_below.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

// As the kernel's own limit (path_resolution(7)).
constexpr int most_links = 40;
// Descriptors are held for each folder on the way down; no model nests its weights deeper.
constexpr std::size_t most_folders = 64;

// "a//b/./c" → components in reverse, so that the next one is at the back.
void push_components(std::vector<std::string>& pending, std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::string_view last = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (!last.empty() && last != ".") pending.emplace_back(last);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
  }
}

[[noreturn]] void fail_outside(const std::string& folder, const std::string& location) {
  fail_input(
      fmt::format("external data '{}' leads outside of the model's folder '{}': keep the data "
                  "beside the model",
                  location, folder));
}

void check_location(const std::string& folder, const std::string& location) {
  if (location.empty() || location.find('\0') != std::string::npos) {
    fail_input("external data has no usable location: it must be a path relative to the model");
  }
  if (location.front() == '/') {
    fail_input(
        fmt::format("external data '{}' is an absolute path: only paths relative to the "
                    "model's folder '{}' are read",
                    location, folder));
  }
  std::vector<std::string> components;
  push_components(components, location);
  for (const std::string& component : components) {
    if (component == "..") fail_outside(folder, location);
  }
}

std::string read_link(int descriptor, const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = ::readlinkat(descriptor, "", target.data(), target.size());
  if (length < 0) fail_to_open(path, errno);
  if (static_cast<std::size_t>(length) == target.size()) fail_to_open(path, ENAMETOOLONG);
  return {target.data(), static_cast<std::size_t>(length)};
}

}  // namespace

void fail_to_open(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      fail_input(fmt::format("'{}' does not exist: check the path", path));
    case EACCES:
    case EPERM:
      fail_input(fmt::format("'{}' may not be read: check its permissions", path));
    case ELOOP:
      fail_input(fmt::format("'{}' goes through too many symbolic links: check them", path));
    case ENAMETOOLONG:
      fail_input(fmt::format("'{}' is too long for a path: check it", path));
    case ENXIO:
    case ENODEV:
      fail_input(fmt::format("'{}' is not a regular file: copy its contents to a file", path));
    default:
      throw Error(ErrorKind::failure,
                  fmt::format("'{}' cannot be opened: {}", path, std::strerror(error)));
  }
}

FileDescriptor open_descriptor_below(const std::string& folder, const std::string& location) {
  check_location(folder, location);
  const std::string path = fmt::format("{}/{}", folder, location);
  std::vector<FileDescriptor> folders;  // from the model's folder down to where the walk is
  folders.reserve(most_folders);
  folders.emplace_back(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folders.back().is_open()) fail_to_open(folder, errno);

  std::vector<std::string> pending;
  push_components(pending, location);
  int links = 0;
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (name == "..") {  // only a link's target can hold one
      if (folders.size() == 1) fail_outside(folder, location);
      folders.pop_back();
      continue;
    }
    FileDescriptor next(
        ::openat(folders.back().get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!next.is_open()) fail_to_open(path, errno);
    struct stat status{};
    if (::fstat(next.get(), &status) != 0) fail_to_open(path, errno);
    if (S_ISLNK(status.st_mode)) {
      if (++links > most_links) fail_to_open(path, ELOOP);
      const std::string target = read_link(next.get(), path);
      if (target.starts_with('/')) fail_outside(folder, location);
      push_components(pending, target);
      continue;
    }
    if (S_ISDIR(status.st_mode)) {
      if (folders.size() == most_folders) fail_to_open(path, ENAMETOOLONG);
      folders.push_back(std::move(next));
      continue;
    }
    if (!pending.empty()) fail_to_open(path, ENOTDIR);
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    FileDescriptor file(::openat(folders.back().get(), name.c_str(), flags));
    if (!file.is_open()) fail_to_open(path, errno);
    return file;
  }
  fail_input(fmt::format("'{}' is a directory: external data must be a file", path));
}

}  // namespace plimsoll::tensor
