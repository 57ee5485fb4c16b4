// A file that weights are read from. Why it exists: payloads are referred to by (file, offset,
// length) and read through bounded buffers by pread; mapping a file and walking it would make its
// pages resident and count against the limit. May touch: POSIX files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace plimsoll::tensor {

/// An open regular file, read by position. Thread-safe. The descriptor is closed by the destructor.
class SourceFile {
 public:
  /// Throws Error(bad_input) naming the path for: missing, no permission, a directory, not regular.
  [[nodiscard]] static std::shared_ptr<const SourceFile> open(const std::string& path);
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;
  ~SourceFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  ///< when opened
  [[nodiscard]] std::int64_t modified_nanoseconds() const noexcept { return modified_; }
  /// Reads exactly destination.size() bytes at offset. Throws Error(bad_input) when the range is
  /// past the end (the file was cut), Error(failure) on a read error.
  void read(std::uint64_t offset, std::span<std::byte> destination) const;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  SourceFile(std::string path, int descriptor, std::uint64_t size, std::int64_t modified);
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::int64_t modified_ = 0;
};

}  // namespace plimsoll::tensor
