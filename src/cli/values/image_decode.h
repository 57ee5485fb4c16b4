// stb_image behind two functions. Why it exists: it is compiled in one file, with its memory taken
// from ImageScratch. May touch: image_header.h, image_scratch.h.
#pragma once

#include <cstdint>

#include "cli/values/image_header.h"
#include "cli/values/image_scratch.h"

namespace plimsoll::cli {

/// height × width × channels bytes that belong to the current ImageScratch, which there must be;
/// null when the file is damaged or memory was refused. Throws Error(bad_input) for a file whose
/// two size fields differ, Error(failure) when it cannot be read.
[[nodiscard]] const std::uint8_t* decode_image(const InputFile& file, const ImageHeader& header,
                                               int channels);
/// Why the last decode_image gave null, in stb_image's words.
[[nodiscard]] const char* decode_failure();

}  // namespace plimsoll::cli
