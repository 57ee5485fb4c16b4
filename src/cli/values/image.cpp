#include "cli/values/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "plimsoll/error.h"
#include "plimsoll/values.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_MAX_DIMENSIONS 16384
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace plimsoll::cli {
namespace {

struct Fit {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool channels_last = false;
};

bool is_channels(std::int64_t n) {
  return n == 1 || n == 3 || n == 4;
}

Fit fit_of(const Shape& shape, const std::string& path) {
  const std::size_t rank = shape.rank();
  const std::size_t first = rank == 4 ? 1 : 0;
  if ((rank == 3 || rank == 4) && (rank == 3 || shape[0] == 1)) {
    if (is_channels(shape[first])) {
      return {shape[first], shape[first + 1], shape[first + 2], false};
    }
    if (is_channels(shape[first + 2])) {
      return {shape[first + 2], shape[first], shape[first + 1], true};
    }
  }
  fail_input(
      fmt::format("'{}': an image does not fit an input of shape {}; it needs 1, 3 or 4 "
                  "channels first or last and a batch of 1",
                  path, shape.to_string()));
}

void store(TensorView destination, std::int64_t at, float value) {
  switch (destination.type) {
    case ElementType::f32:
      destination.as<float>()[at] = value;
      return;
    case ElementType::f16:
    case ElementType::bf16:
      destination.as<std::uint16_t>()[at] = half_bits(destination.type, value);
      return;
    case ElementType::u8:
      destination.as<std::uint8_t>()[at] = static_cast<std::uint8_t>(std::lround(value));
      return;
    default:
      break;
  }
}

}  // namespace

void read_image(const std::string& path, TensorView destination, ImageRange range) {
  const Fit fit = fit_of(destination.shape, path);
  const bool known = destination.type == ElementType::f32 || destination.type == ElementType::f16 ||
                     destination.type == ElementType::bf16 || destination.type == ElementType::u8;
  if (!known) {
    fail_input(
        fmt::format("'{}': an image cannot be given as {}", path, element_name(destination.type)));
  }
  int width = 0;
  int height = 0;
  int components = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load(path.c_str(), &width, &height, &components, static_cast<int>(fit.channels)),
      stbi_image_free);
  if (!pixels || width < 1 || height < 1) {
    fail_input(
        fmt::format("'{}' cannot be read as an image: {}", path,
                    stbi_failure_reason() != nullptr ? stbi_failure_reason() : "it is empty"));
  }
  for (std::int64_t y = 0; y < fit.height; ++y) {
    const float sy = std::clamp((static_cast<float>(y) + 0.5F) * static_cast<float>(height) /
                                        static_cast<float>(fit.height) -
                                    0.5F,
                                0.0F, static_cast<float>(height - 1));
    const int y0 = static_cast<int>(sy);
    const int y1 = std::min(y0 + 1, height - 1);
    const float fy = sy - static_cast<float>(y0);
    for (std::int64_t x = 0; x < fit.width; ++x) {
      const float sx = std::clamp((static_cast<float>(x) + 0.5F) * static_cast<float>(width) /
                                          static_cast<float>(fit.width) -
                                      0.5F,
                                  0.0F, static_cast<float>(width - 1));
      const int x0 = static_cast<int>(sx);
      const int x1 = std::min(x0 + 1, width - 1);
      const float fx = sx - static_cast<float>(x0);
      for (std::int64_t c = 0; c < fit.channels; ++c) {
        const auto at = [&](int yy, int xx) {
          return static_cast<float>(
              pixels.get()[(static_cast<std::int64_t>(yy) * width + xx) * fit.channels + c]);
        };
        const float top = at(y0, x0) + (at(y0, x1) - at(y0, x0)) * fx;
        const float bottom = at(y1, x0) + (at(y1, x1) - at(y1, x0)) * fx;
        float value = top + (bottom - top) * fy;
        if (range == ImageRange::zero_to_one) value /= 255.0F;
        if (range == ImageRange::minus_one_to_one) value = value / 127.5F - 1.0F;
        const std::int64_t index = fit.channels_last ? (y * fit.width + x) * fit.channels + c
                                                     : (c * fit.height + y) * fit.width + x;
        store(destination, index, value);
      }
    }
  }
}

}  // namespace plimsoll::cli
