// Large memory as mappings under a reservation. Why it exists: blocks of 64 KiB and more must go
// back to the kernel whole when freed and must not depend on the heap's or the kernel's mood about
// huge pages. May touch: budget.h, mmap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

#include "memory/budget.h"

namespace plimsoll::memory {

/// Blocks smaller than this belong on the heap.
inline constexpr std::uint64_t smallest_block_bytes = 64 * 1024;

/// Transparent huge pages are chosen, never left to chance: `never` keeps resident memory to the
/// pages touched; `always` rounds the reservation up to whole 2 MiB pages.
enum class HugePages : std::uint8_t { never, always };

/// Zeroed private memory, page-aligned (2 MiB-aligned with HugePages::always). Move-only; unmapped
/// and its reservation given back by the destructor.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  /// Reserves (rounded up to whole pages) and maps. A failed mmap (RLIMIT_DATA, address space) is a
  /// Refusal with by_kernel set. Zero bytes make a block of one page, so that data() is never null.
  [[nodiscard]] static std::expected<Block, Refusal> allocate(Budget& budget, std::uint64_t bytes,
                                                              std::string_view purpose,
                                                              HugePages huge = HugePages::never);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  ///< as asked for
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  /// Returns the pages of [offset, offset+length) to the kernel; they read as zero afterwards. Only
  /// whole pages inside the range. The reservation stays.
  void discard(std::uint64_t offset, std::uint64_t length) noexcept;
  void reset() noexcept;  ///< unmaps and gives the reservation back now

 private:
  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t mapped_ = 0;
  Reservation reservation_;
};

}  // namespace plimsoll::memory
