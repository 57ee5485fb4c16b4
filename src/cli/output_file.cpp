#include "cli/output_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

[[noreturn]] void fail_open(const std::string& path, int cause) {
  fail_input(fmt::format("'{}' cannot be written: {}; check the path", path, std::strerror(cause)));
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path == "-") {
    file_ = stdout;
    return;
  }
  owned_.reset(std::fopen(path.c_str(), "wbe"));
  file_ = owned_.get();
  if (file_ == nullptr) fail_open(path, errno);
}

void OutputFile::fail() const {
  throw Error(ErrorKind::failure,
              fmt::format("'{}' cannot be written: {}",
                          path_ == "-" ? "standard output" : path_.c_str(), std::strerror(errno)));
}

void OutputFile::write(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void OutputFile::close() {
  if (std::fflush(file_) != 0) fail();
  if (owned_ && std::fclose(owned_.release()) != 0) fail();
  file_ = nullptr;
}

void require_writable(const std::string& path) {
  if (path == "-") return;
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) fail_open(path, EISDIR);
    if (::access(path.c_str(), W_OK) != 0) fail_open(path, errno);
    return;
  }
  if (errno != ENOENT) fail_open(path, errno);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  if (path.empty() || ::access(folder.c_str(), W_OK | X_OK) != 0) fail_open(path, errno);
}

}  // namespace plimsoll::cli
