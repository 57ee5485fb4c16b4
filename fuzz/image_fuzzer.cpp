// Feeds bytes to the readers of pictures, as a .png or .jpg that an input of 16 by 16 is given.
// Every outcome but a picture, a refusal or an Error is a finding, and so is an Error that blames
// ourselves.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cli/values/image.h"
#include "fuzz/memory_file.h"
#include "plimsoll/engine.h"
#include "plimsoll/error.h"

namespace {

using namespace plimsoll::cli;  // NOLINT: a program of its own

// A small file may honestly hold a large picture of one colour, which takes long to decode.
constexpr std::uint64_t most_pixels = 1 << 20;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const plimsoll::fuzz::MemoryFile bytes;
  static const plimsoll::Engine engine = plimsoll::Engine::create({.memory_limit_bytes = 64 << 20});
  bytes.set(data, size);
  try {
    const InputFile file(bytes.path());
    const ImageHeader header = read_image_header(file);
    if (std::uint64_t{header.width} * header.height > most_pixels) return 0;
    constexpr std::int64_t channel_counts[] = {1, 3, 4};
    const plimsoll::Shape shape({1, 16, 16, channel_counts[size % 3]});
    std::array<float, std::size_t{16} * 16 * 4> pixels{};
    static_cast<void>(read_image(
        engine, file, header, ImageRange::zero_to_one,
        {plimsoll::ElementType::f32, shape, reinterpret_cast<std::byte*>(pixels.data())}));
  } catch (const plimsoll::Error& error) {
    if (error.kind() == plimsoll::ErrorKind::internal) std::abort();
  }
  return 0;
}
