#include "cli/values/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

#include "cli/values/image_decode.h"
#include "cli/values/image_scratch.h"
#include "plimsoll/error.h"
#include "plimsoll/values.h"

namespace plimsoll::cli {
namespace {

constexpr bool is_channels(std::int64_t n) {
  return n == 1 || n == 3 || n == 4;
}

/// Which dimension holds the channels; nothing when none can.
std::optional<std::size_t> channel_axis(std::span<const std::int64_t> dimensions) {
  if (dimensions.size() != 3 && dimensions.size() != 4) return std::nullopt;
  const std::size_t first = dimensions.size() - 3;
  if (is_channels(dimensions[first])) return first;
  if (is_channels(dimensions[first + 2])) return first + 2;
  return std::nullopt;
}

/// Where an output row or column reads from: half-pixel centres, the edge repeated.
struct Tap {
  std::size_t low = 0;
  std::size_t high = 0;
  float weight = 0;  ///< of `high`
};

std::vector<Tap> make_taps(std::int64_t outputs, std::uint32_t inputs) {
  std::vector<Tap> taps(static_cast<std::size_t>(outputs));
  const double scale = static_cast<double>(inputs) / static_cast<double>(outputs);
  for (std::size_t index = 0; index < taps.size(); ++index) {
    const double at = std::clamp((static_cast<double>(index) + 0.5) * scale - 0.5, 0.0,
                                 static_cast<double>(inputs - 1));
    taps[index].low = static_cast<std::size_t>(at);
    taps[index].high = std::min<std::size_t>(taps[index].low + 1, inputs - 1);
    taps[index].weight = static_cast<float>(at - std::floor(at));
  }
  return taps;
}

float in_range(float pixel, ImageRange range) {
  switch (range) {
    case ImageRange::zero_to_one:
      return pixel / 255.0F;
    case ImageRange::minus_one_to_one:
      return pixel / 127.5F - 1.0F;
    case ImageRange::zero_to_255:
      break;
  }
  return pixel;
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
      fail_internal("a picture was to be written as a type that it has no form in");
  }
}

void resize(const std::uint8_t* pixels, const ImageHeader& header, const ImageLayout& layout,
            ImageRange range, TensorView destination) {
  const auto channels = static_cast<std::size_t>(layout.channels);
  const std::size_t row_bytes = std::size_t{header.width} * channels;
  const std::vector<Tap> rows = make_taps(layout.height, header.height);
  const std::vector<Tap> columns = make_taps(layout.width, header.width);
  for (std::int64_t y = 0; y < layout.height; ++y) {
    const Tap& row = rows[static_cast<std::size_t>(y)];
    const std::uint8_t* upper = pixels + row.low * row_bytes;
    const std::uint8_t* lower = pixels + row.high * row_bytes;
    for (std::int64_t x = 0; x < layout.width; ++x) {
      const Tap& column = columns[static_cast<std::size_t>(x)];
      for (std::size_t channel = 0; channel < channels; ++channel) {
        const std::size_t left = column.low * channels + channel;
        const std::size_t right = column.high * channels + channel;
        const auto mix = [&](const std::uint8_t* line) {
          const auto from = static_cast<float>(line[left]);
          return from + (static_cast<float>(line[right]) - from) * column.weight;
        };
        const float top = mix(upper);
        const float value = top + (mix(lower) - top) * row.weight;
        const auto c = static_cast<std::int64_t>(channel);
        const std::int64_t at = layout.channels_last ? (y * layout.width + x) * layout.channels + c
                                                     : (c * layout.height + y) * layout.width + x;
        store(destination, at, in_range(value, range));
      }
    }
  }
}

}  // namespace

std::optional<Shape> image_shape(std::span<const std::int64_t> dimensions,
                                 const ImageHeader& header) {
  const auto axis = channel_axis(dimensions);
  if (!axis) return std::nullopt;
  std::vector<std::int64_t> sizes(dimensions.begin(), dimensions.end());
  if (sizes.size() == 4 && sizes[0] < 0) sizes[0] = 1;
  const std::size_t first = sizes.size() - 3;
  std::int64_t& height = sizes[*axis == first ? first + 1 : first];
  std::int64_t& width = sizes[*axis == first ? first + 2 : first + 1];
  if (height < 0) height = header.height;
  if (width < 0) width = header.width;
  const Shape shape(sizes);
  if (!image_layout(shape)) return std::nullopt;
  return shape;
}

std::optional<ImageLayout> image_layout(const Shape& shape) {
  const auto axis = channel_axis(shape.dimensions());
  if (!axis || (shape.rank() == 4 && shape[0] != 1)) return std::nullopt;
  const std::size_t first = shape.rank() - 3;
  if (*axis == first) return ImageLayout{shape[first], shape[first + 1], shape[first + 2], false};
  return ImageLayout{shape[first + 2], shape[first], shape[first + 1], true};
}

std::expected<void, Refusal> read_image(const Engine& engine, const InputFile& file,
                                        const ImageHeader& header, ImageRange range,
                                        TensorView destination) {
  const auto layout = image_layout(destination.shape);
  if (!layout) fail_internal("a picture was to be read to a shape that it does not fit");
  if (destination.type == ElementType::u8 && range != ImageRange::zero_to_255) {
    fail_input(fmt::format("'{}': the input is u8, which holds 0 to 255; leave --image-range out",
                           file.path()));
  }
  const std::uint64_t most =
      image_decode_bytes(header, file.size(), static_cast<std::uint32_t>(layout->channels));
  ImageScratch scratch(engine, most);
  const std::uint8_t* pixels = decode_image(file, header, static_cast<int>(layout->channels));
  if (pixels == nullptr) {
    if (scratch.refusal()) return std::unexpected(*scratch.refusal());
    if (scratch.heap_exhausted()) throw std::bad_alloc();
    fail_input(fmt::format("'{}' is a damaged image: {}; save it again", file.path(),
                           scratch.asked_too_much() ? "it asks for more memory than its size needs"
                                                    : decode_failure()));
  }
  resize(pixels, header, *layout, range, destination);
  return {};
}

}  // namespace plimsoll::cli
