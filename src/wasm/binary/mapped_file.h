// A module's file, mapped. Why it exists: a module is read once from front to back, and pages that
// were read must not stay resident: file-backed pages count in the kernel's figure as all others
// do. May touch: memory/budget.h, POSIX files and mmap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "memory/budget.h"
#include "plimsoll/refusal.h"

namespace plimsoll::wasm {

/// Read-only and private. A file that is cut while it is mapped raises SIGBUS, as for every program
/// that maps files; one that changes is seen changed, so nothing that was checked may be read again
/// without being checked again. Move-only; one thread at a time.
class MappedFile {
 public:
  /// Pages are given back when this many bytes were passed; the kernel maps a file's pages around
  /// the one touched in groups of 64 KiB, so less would gain nothing.
  static constexpr std::uint64_t window_bytes = 256 * 1024;

  /// Claims `window_bytes` (or the file where it is smaller). Throws Error(bad_input) naming the
  /// path for: missing, no permission, not a regular file, empty.
  [[nodiscard]] static std::expected<MappedFile, Refusal> open(memory::Budget& budget,
                                                               const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  /// Claims what reading an item of so many bytes in one go makes resident, beside the window.
  [[nodiscard]] std::expected<void, Refusal> claim_window(std::uint64_t item_bytes);
  /// Gives the pages before `offset` back, a window at a time. They may be read again.
  void drop_before(std::uint64_t offset) noexcept;

 private:
  MappedFile(const std::byte* data, std::size_t size, memory::Reservation claim) noexcept;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t dropped_ = 0;
  memory::Reservation claim_;
};

}  // namespace plimsoll::wasm
