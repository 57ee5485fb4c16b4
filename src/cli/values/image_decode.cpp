// The only file that includes stb_image.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "cli/values/image_decode.h"
#include "plimsoll/error.h"

namespace {

void* scratch_allocate(std::size_t bytes) {
  return plimsoll::cli::ImageScratch::current().allocate(bytes);
}

void scratch_release(void* pointer) {
  plimsoll::cli::ImageScratch::current().release(pointer);
}

void* scratch_resize(void* pointer, std::size_t old_bytes, std::size_t bytes) {
  void* const grown = scratch_allocate(bytes);
  if (grown == nullptr) return nullptr;
  if (pointer != nullptr) std::memcpy(grown, pointer, std::min(old_bytes, bytes));
  scratch_release(pointer);
  return grown;
}

}  // namespace

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 65535
#define STBI_MALLOC(bytes) scratch_allocate(bytes)
#define STBI_REALLOC_SIZED(pointer, old_bytes, bytes) scratch_resize(pointer, old_bytes, bytes)
#define STBI_FREE(pointer) scratch_release(pointer)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace plimsoll::cli {
namespace {

struct Reader {
  const InputFile& file;
  std::uint64_t at = 0;
};

int read_callback(void* user, char* data, int size) {
  auto& reader = *static_cast<Reader*>(user);
  const std::uint64_t left = reader.file.size() - std::min(reader.at, reader.file.size());
  const std::uint64_t count =
      std::min<std::uint64_t>(left, static_cast<std::uint64_t>(std::max(size, 0)));
  reader.file.read(reader.at, std::as_writable_bytes(std::span(data, count)));
  reader.at += count;
  return static_cast<int>(count);
}

void skip_callback(void* user, int count) {
  auto& reader = *static_cast<Reader*>(user);
  const auto distance = static_cast<std::int64_t>(count);
  if (distance < 0 && static_cast<std::uint64_t>(-distance) > reader.at) {
    reader.at = 0;
  } else {
    reader.at += static_cast<std::uint64_t>(distance);
  }
}

int end_callback(void* user) {
  const auto& reader = *static_cast<Reader*>(user);
  return reader.at >= reader.file.size() ? 1 : 0;
}

}  // namespace

const std::uint8_t* decode_image(const InputFile& file, const ImageHeader& header, int channels) {
  Reader reader{file};
  const stbi_io_callbacks callbacks{read_callback, skip_callback, end_callback};
  int width = 0;
  int height = 0;
  int stored = 0;
  const stbi_uc* pixels =
      stbi_load_from_callbacks(&callbacks, &reader, &width, &height, &stored, channels);
  if (pixels == nullptr) return nullptr;
  if (width != static_cast<int>(header.width) || height != static_cast<int>(header.height)) {
    fail_input(
        fmt::format("'{}' is a damaged image: it has two sizes; save it again", file.path()));
  }
  return pixels;
}

const char* decode_failure() {
  const char* reason = stbi_failure_reason();
  return reason != nullptr ? reason : "it cannot be decoded";
}

}  // namespace plimsoll::cli
