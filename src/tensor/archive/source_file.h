// A file that weights are read from. Why it exists: payloads are referred to by (file, offset,
// length) and read through bounded buffers by pread; mapping a file and walking it would make its
// pages resident and count against the limit. May touch: POSIX files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tensor/archive/file_descriptor.h"

namespace plimsoll::tensor {

/// An open regular file, read by position. Thread-safe. The descriptor is closed by the destructor.
class SourceFile {
  struct Key {  // so that only the functions below make one
    explicit Key() = default;
  };

 public:
  /// Throws Error(bad_input) unless the descriptor is of a regular file.
  SourceFile(Key key, std::string path, FileDescriptor descriptor);
  /// Throws Error(bad_input) naming the path for: missing, no permission, a directory, not regular.
  [[nodiscard]] static std::shared_ptr<const SourceFile> open(const std::string& path);
  /// Opens `location` below `folder`, and nothing outside of it: an absolute location, "..", or a
  /// symbolic link that leads out is an Error(bad_input), as is all that `open` refuses. Links are
  /// followed one by one on open descriptors, so a path that changes meanwhile cannot slip through.
  /// A symbolic link in `folder` itself is followed.
  [[nodiscard]] static std::shared_ptr<const SourceFile> open_below(const std::string& folder,
                                                                    const std::string& location);
  /// A nameless file in memory that holds a copy of `bytes`; `name` is used in messages. For models
  /// that a program holds in memory, and for tests.
  [[nodiscard]] static std::shared_ptr<const SourceFile> from_memory(
      std::string name, std::span<const std::byte> bytes);
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;
  ~SourceFile() = default;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  ///< when opened
  [[nodiscard]] std::int64_t modified_nanoseconds() const noexcept { return modified_; }
  /// Reads exactly destination.size() bytes at offset. Throws Error(bad_input) when the range is
  /// past the end (the file was cut), Error(failure) on a read error.
  void read(std::uint64_t offset, std::span<std::byte> destination) const;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }

 private:
  std::string path_;
  FileDescriptor descriptor_;
  std::uint64_t size_ = 0;
  std::int64_t modified_ = 0;
};

}  // namespace plimsoll::tensor
