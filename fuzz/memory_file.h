// Bytes as a file that has a path but no disk. Why it exists: the readers of values open files by
// path, and fuzzing must not wait for a disk. May touch: Linux's memfd.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace plimsoll::fuzz {

/// One for a process; its content is replaced for each input.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("fuzzed", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  void set(const std::uint8_t* data, std::size_t size) const {
    if (ftruncate(descriptor_, 0) != 0) std::abort();
    if (pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace plimsoll::fuzz
