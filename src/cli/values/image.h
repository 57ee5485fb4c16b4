// Pictures as model inputs. Why it exists: a vision model's input can be a picture, fitted to the
// input's layout and size. May touch: image_header.h; stb_image, image_scratch.h (in .cpp files).
//
// A picture fits an input of 3 or 4 dimensions, a batch of 1 first if there are 4, with 1, 3 or 4
// channels first ([1,C,H,W]) or last ([1,H,W,C]); channels first wins where both would do. One
// channel is luma, the fourth is alpha (255 where the picture has none). The picture is stretched
// to H × W by bilinear interpolation with half-pixel centres, without smoothing first.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/values/image_header.h"
#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// What black and white become.
enum class ImageRange : std::uint8_t { zero_to_one, zero_to_255, minus_one_to_one };

/// The shape that a picture takes for an input with these dimensions (negative: free). A free batch
/// becomes 1, a free height or width the picture's. Nothing when no picture fits.
[[nodiscard]] std::optional<Shape> image_shape(std::span<const std::int64_t> dimensions,
                                               const ImageHeader& header);

/// Where the channels, rows and columns of an input are.
struct ImageLayout {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool channels_last = false;
};
/// Nothing when no picture fits.
[[nodiscard]] std::optional<ImageLayout> image_layout(const Shape& shape);

/// Decodes, and writes to `destination`: f32, f16, bf16 or u8 of a shape that image_layout knows.
/// What decoding holds is reserved with the engine and given back. u8 takes zero_to_255 only.
/// Throws Error(bad_input).
[[nodiscard]] std::expected<void, Refusal> read_image(const Engine& engine, const InputFile& file,
                                                      const ImageHeader& header, ImageRange range,
                                                      TensorView destination);

}  // namespace plimsoll::cli
