// Files that the program writes. Why it exists: a disk that is full must be noticed, whatever is
// written. May touch: stdio.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace plimsoll::cli {

/// A file that is replaced, or standard output for "-". Every fault is an Error(failure) that names
/// the file; a folder that is not there is an Error(bad_input).
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Flushes and closes; without it nothing promises that the bytes are there.
  void close();

 private:
  [[noreturn]] void fail() const;
  struct Closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Closer> owned_;
  std::FILE* file_ = nullptr;
};

/// Throws what opening `path` for writing would throw, without making or changing the file. To be
/// asked before long work.
void require_writable(const std::string& path);

}  // namespace plimsoll::cli
