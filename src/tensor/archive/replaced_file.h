// A file that is whole before it has its name. Why it exists: an archive that was interrupted must
// never be taken for one, and two writers must not mix theirs. May touch: POSIX files, error.h.
//
// Bytes go to NAME.part, which is locked while it is written. `publish` syncs it and renames it; a
// writer that is killed leaves NAME.part, which the next one takes over and empties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tensor/archive/file_descriptor.h"

namespace plimsoll::tensor {

class ReplacedFile {
 public:
  /// Throws Error(bad_input) when the path cannot be written, is no regular file, or is being
  /// written by another process.
  explicit ReplacedFile(std::string path);
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;
  /// Removes what was not published.
  ~ReplacedFile();

  /// The size of the whole file; what is never written reads as zeros. Throws Error(failure).
  void set_size(std::uint64_t bytes);
  /// Thread-safe. Throws Error(failure), on a full disk for example.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// Makes the file appear under its name, durably.
  void publish();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_;
  std::string part_;
  FileDescriptor file_;
  bool published_ = false;
};

}  // namespace plimsoll::tensor
