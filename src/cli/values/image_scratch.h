// Memory for decoding a picture. Why it exists: stb_image allocates what a file's header says; that
// must count under the limit, be bounded by what the header can honestly need, and be gone
// afterwards even when decoding ends by an exception. May touch: the public API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// While it exists, this thread's stb_image allocates here. One at a time on a thread.
class ImageScratch {
 public:
  /// Allocations beyond `most_bytes` in sum fail: the file asks for what its header does not.
  ImageScratch(const Engine& engine, std::uint64_t most_bytes);
  ImageScratch(const ImageScratch&) = delete;
  ImageScratch& operator=(const ImageScratch&) = delete;
  ~ImageScratch();

  /// Set when an allocation failed because of the engine's limit.
  [[nodiscard]] const std::optional<Refusal>& refusal() const noexcept { return refusal_; }
  [[nodiscard]] bool asked_too_much() const noexcept { return asked_too_much_; }
  [[nodiscard]] bool heap_exhausted() const noexcept { return heap_exhausted_; }
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_; }

  /// As malloc and free; null when it cannot be had. `release` of null does nothing.
  [[nodiscard]] void* allocate(std::size_t bytes) noexcept;
  void release(void* pointer) noexcept;
  /// The innermost on this thread; there must be one.
  [[nodiscard]] static ImageScratch& current() noexcept;

 private:
  struct Piece {
    void* pointer = nullptr;
    std::uint64_t bytes = 0;
    HostMemory memory;                  ///< large pieces
    std::unique_ptr<std::byte[]> heap;  ///< small ones; NOLINT: an array on purpose
  };
  const Engine& engine_;
  std::uint64_t most_;
  std::uint64_t used_ = 0;
  std::uint64_t peak_ = 0;
  std::vector<Piece> pieces_;
  std::optional<Refusal> refusal_;
  bool asked_too_much_ = false;
  bool heap_exhausted_ = false;
};

}  // namespace plimsoll::cli
