#include "cli/values/image_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

/// JPEG has 16 bits for a side; PNG has 31, which stb_image's arithmetic is not made for.
constexpr std::uint32_t longest_side = 65535;
/// Deflate makes at most 1032 bytes of one.
constexpr std::uint64_t png_expansion = 1032;
/// A JPEG spends at least one bit on a block of 64 pixels, and a block may stand for 16 when its
/// channel is subsampled; a factor of 4 for encoders that know better.
constexpr std::uint64_t jpeg_pixels_per_byte = 8 * 64 * 4;

[[noreturn]] void fail_damaged(const InputFile& file, std::string_view what) {
  fail_input(fmt::format("'{}' is a damaged image: {}; save it again", file.path(), what));
}

std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t index = 0; index < size; ++index) {
    value = value << 8 | static_cast<std::uint32_t>(bytes[at + index]);
  }
  return value;
}

std::uint64_t png_row_bytes(const ImageHeader& header) {
  return 1 + (std::uint64_t{header.width} * header.bits * header.channels + 7) / 8;
}

//   0  signature, 8 bytes        24  bits of a channel
//   8  length 13, "IHDR"         25  colour type: 0 grey, 2 RGB, 3 palette, 4 grey+alpha, 6 RGBA
//  16  width, height             26  compression, filter, interlace
ImageHeader read_png(const InputFile& file) {
  std::array<std::byte, 29> bytes{};
  if (file.size() < bytes.size()) fail_damaged(file, "it ends inside its header");
  file.read(0, bytes);
  if (big_endian(bytes, 8, 4) != 13 || std::memcmp(bytes.data() + 12, "IHDR", 4) != 0) {
    fail_damaged(file, "its first chunk is no IHDR");
  }
  ImageHeader header;
  header.width = big_endian(bytes, 16, 4);
  header.height = big_endian(bytes, 20, 4);
  header.bits = big_endian(bytes, 24, 1);
  switch (big_endian(bytes, 25, 1)) {
    case 0:
      header.channels = 1;
      break;
    case 2:
      header.channels = 3;
      break;
    case 3:
      header.channels = 1;
      header.palette = true;
      break;
    case 4:
      header.channels = 2;
      break;
    case 6:
      header.channels = 4;
      break;
    default:
      fail_damaged(file, "its colour type is none of PNG's");
  }
  if (header.bits != 1 && header.bits != 2 && header.bits != 4 && header.bits != 8 &&
      header.bits != 16) {
    fail_damaged(file, "its bit depth is none of PNG's");
  }
  return header;
}

/// Walks the markers to the frame header.
ImageHeader read_jpeg(const InputFile& file) {
  std::uint64_t at = 2;
  for (;;) {
    std::array<std::byte, 4> marker{};
    if (file.size() - at < marker.size()) fail_damaged(file, "it has no frame header");
    file.read(at, marker);
    const std::uint32_t code = big_endian(marker, 1, 1);
    if (marker[0] != std::byte{0xFF}) fail_damaged(file, "a marker is missing");
    if (code == 0xFF) {  // padding
      ++at;
      continue;
    }
    if (code == 0x01 || (code >= 0xD0 && code <= 0xD9)) {  // markers without a segment
      at += 2;
      continue;
    }
    const std::uint32_t length = big_endian(marker, 2, 2);
    if (length < 2 || file.size() - at - 2 < length) fail_damaged(file, "a segment is cut");
    const bool frame = code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC;
    if (!frame) {
      at += 2 + length;
      continue;
    }
    if (code > 0xC2) {
      fail_unsupported(fmt::format(
          "'{}' is a JPEG of a rare kind (lossless, hierarchical or arithmetically coded); save it "
          "as a common one",
          file.path()));
    }
    std::array<std::byte, 2 + 6 + 4 * 3> bytes{};
    const std::size_t wanted = std::min<std::size_t>(bytes.size(), length);
    if (wanted < 8) fail_damaged(file, "its frame header is cut");
    file.read(at + 2, std::span(bytes).first(wanted));
    ImageHeader header;
    header.format = ImageHeader::Format::jpeg;
    header.progressive = code == 0xC2;
    header.height = big_endian(bytes, 3, 2);
    header.width = big_endian(bytes, 5, 2);
    header.channels = big_endian(bytes, 7, 1);
    if (header.channels == 0 || header.channels > 4 || wanted < 8 + header.channels * 3) {
      fail_damaged(file, "its frame header names no channels");
    }
    for (std::uint32_t channel = 0; channel < header.channels; ++channel) {
      const std::uint32_t factors = big_endian(bytes, 8 + channel * 3 + 1, 1);
      header.sampling[channel] = {factors >> 4, factors & 15};
      if (factors >> 4 < 1 || factors >> 4 > 4 || (factors & 15) < 1 || (factors & 15) > 4) {
        fail_damaged(file, "its sampling factors are not from 1 to 4");
      }
    }
    return header;
  }
}

}  // namespace

ImageHeader read_image_header(const InputFile& file) {
  std::array<std::byte, 8> magic{};
  if (file.size() < magic.size()) {
    fail_input(fmt::format("'{}' is no image: it has {} bytes; give a PNG or JPEG file",
                           file.path(), file.size()));
  }
  file.read(0, magic);
  const bool png = std::memcmp(magic.data(), "\x89PNG\r\n\x1a\n", 8) == 0;
  if (!png && (magic[0] != std::byte{0xFF} || magic[1] != std::byte{0xD8})) {
    fail_input(
        fmt::format("'{}' is no image: it begins like neither a PNG nor a JPEG file", file.path()));
  }
  const ImageHeader header = png ? read_png(file) : read_jpeg(file);
  if (header.width == 0 || header.height == 0) {
    fail_input(fmt::format("'{}' is an image of {}×{} pixels; give one that has some", file.path(),
                           header.width, header.height));
  }
  if (header.width > longest_side || header.height > longest_side) {
    fail_input(
        fmt::format("'{}' is an image of {}×{} pixels; a side may have {} at most, so scale "
                    "it down",
                    file.path(), header.width, header.height, longest_side));
  }
  const std::uint64_t pixels = std::uint64_t{header.width} * header.height;
  const bool possible = png ? png_row_bytes(header) * header.height / png_expansion <= file.size()
                            : pixels / jpeg_pixels_per_byte <= file.size();
  if (!possible) {
    fail_damaged(file, fmt::format("it claims {}×{} pixels, more than {} bytes can hold",
                                   header.width, header.height, file.size()));
  }
  return header;
}

std::uint64_t image_decode_bytes(const ImageHeader& header, std::uint64_t file_bytes,
                                 std::uint32_t channels) {
  const std::uint64_t pixels = std::uint64_t{header.width} * header.height;
  const std::uint64_t result = pixels * channels;
  // Blocks are rounded up to pages, and there are small ones beside them.
  constexpr std::uint64_t slack = 128 * 1024;
  if (header.format == ImageHeader::Format::jpeg) {
    std::uint32_t horizontal = 1;
    std::uint32_t vertical = 1;
    for (std::uint32_t channel = 0; channel < header.channels; ++channel) {
      horizontal = std::max(horizontal, header.sampling[channel].horizontal);
      vertical = std::max(vertical, header.sampling[channel].vertical);
    }
    // Every channel is decoded to a plane of whole blocks; progressive ones keep 16-bit
    // coefficients beside it.
    const std::uint64_t columns = (header.width + horizontal * 8 - 1) / (horizontal * 8);
    const std::uint64_t rows = (header.height + vertical * 8 - 1) / (vertical * 8);
    std::uint64_t planes = 0;
    for (std::uint32_t channel = 0; channel < header.channels; ++channel) {
      planes += columns * header.sampling[channel].horizontal * 8 * rows *
                header.sampling[channel].vertical * 8;
    }
    return planes * (header.progressive ? 3 : 1) + result + slack +
           std::uint64_t{header.width} * header.channels;
  }
  // The compressed chunks are joined in a buffer that doubles; unpacked to rows; unfiltered to
  // pixels; expanded from a palette, from 16 bits or to other channels. Each step holds its source.
  // An interlaced picture's rows are a little longer, and their buffer may double.
  const std::uint64_t packed = std::min(file_bytes, UINT64_MAX / 8);
  const std::uint64_t rows = 2 * png_row_bytes(header) * header.height;
  const std::uint64_t wide = header.bits == 16 ? 2 : 1;
  const std::uint64_t plain = pixels * (header.channels + 1) * wide;
  const std::uint64_t expanded = pixels * std::max<std::uint64_t>(channels, 4) * wide;
  return std::max({packed * 3, packed * 2 + rows, rows + plain + (header.palette ? expanded : 0),
                   plain + expanded, expanded + result}) +
         slack;
}

}  // namespace plimsoll::cli
