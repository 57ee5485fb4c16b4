// What a picture's file says about it before it is decoded. Why it exists: size and the memory that
// decoding takes must be known when planning, and a header that promises more than its file can
// hold must be refused before anything is allocated. May touch: byte_source.h. Formats: PNG (RFC
// 2083, 4.1.1), JPEG (ITU-T T.81, B.2.2).
#pragma once

#include <array>
#include <cstdint>

#include "cli/values/byte_source.h"

namespace plimsoll::cli {

struct ImageHeader {
  enum class Format : std::uint8_t { png, jpeg };
  Format format = Format::png;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 0;  ///< as stored: 1 for a palette
  // PNG
  std::uint32_t bits = 8;  ///< of a channel
  bool palette = false;
  // JPEG
  bool progressive = false;
  struct Sampling {
    std::uint32_t horizontal = 1;
    std::uint32_t vertical = 1;
  };
  std::array<Sampling, 4> sampling{};  ///< of each channel
};

/// Throws Error(bad_input): neither PNG nor JPEG, damaged, of no pixels, or of more pixels than the
/// file can hold.
[[nodiscard]] ImageHeader read_image_header(const InputFile& file);

/// An upper bound for what stb_image holds while it decodes to `channels` channels of 8 bits, the
/// result included.
[[nodiscard]] std::uint64_t image_decode_bytes(const ImageHeader& header, std::uint64_t file_bytes,
                                               std::uint32_t channels);

}  // namespace plimsoll::cli
