#include "cli/values/image_scratch.h"

#include <algorithm>
#include <new>

namespace plimsoll::cli {
namespace {

/// Smaller pieces are heap, as everywhere.
constexpr std::uint64_t smallest_large_bytes = 64 * 1024;

thread_local ImageScratch* innermost = nullptr;

}  // namespace

ImageScratch::ImageScratch(const Engine& engine, std::uint64_t most_bytes)
    : engine_(engine), most_(most_bytes) {
  innermost = this;
}

ImageScratch::~ImageScratch() {
  innermost = nullptr;
}

ImageScratch& ImageScratch::current() noexcept {
  return *innermost;
}

void* ImageScratch::allocate(std::size_t bytes) noexcept {
  if (bytes > most_ - used_) {
    asked_too_much_ = true;
    return nullptr;
  }
  try {
    Piece piece;
    piece.bytes = bytes;
    if (bytes >= smallest_large_bytes) {
      auto memory = engine_.allocate(bytes, "decoding an image");
      if (!memory) {
        refusal_ = std::move(memory.error());
        return nullptr;
      }
      piece.memory = std::move(*memory);
      piece.pointer = piece.memory.data.get();
    } else {
      piece.heap = std::make_unique<std::byte[]>(std::max<std::size_t>(bytes, 1));
      piece.pointer = piece.heap.get();
    }
    void* const pointer = piece.pointer;
    pieces_.push_back(std::move(piece));
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return pointer;
  } catch (const std::bad_alloc&) {
    heap_exhausted_ = true;
    return nullptr;
  }
}

void ImageScratch::release(void* pointer) noexcept {
  if (pointer == nullptr) return;
  const auto piece = std::ranges::find(pieces_, pointer, &Piece::pointer);
  if (piece == pieces_.end()) return;
  used_ -= piece->bytes;
  pieces_.erase(piece);
}

}  // namespace plimsoll::cli
