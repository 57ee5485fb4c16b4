// Images as model inputs. Why it exists: a vision model's input can be a picture, fitted to the
// input's layout and size. May touch: stb_image; the public API.
#pragma once

#include <string>

#include "cli/values/value.h"

namespace plimsoll::cli {

/// Decodes a .png or .jpg and writes it, stretched bilinearly, into `destination`: f32, f16 or u8
/// of shape [1,C,H,W], [1,H,W,C], [H,W,C] or [C,H,W] with C of 1, 3 or 4. Alpha is 255 where the
/// picture has none. Throws Error(bad_input).
void read_image(const std::string& path, TensorView destination, ImageRange range);

}  // namespace plimsoll::cli
