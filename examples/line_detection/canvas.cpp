#include "canvas.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wconversion"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace line_detection {
namespace {

constexpr int samples = 4;  // along each side of a pixel

/// The even-odd rule: how many edges a ray to the right crosses.
bool inside(std::span<const Point> polygon, Point point) {
  bool within = false;
  for (std::size_t i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
    const Point a = polygon[i];
    const Point b = polygon[j];
    if ((a.y > point.y) == (b.y > point.y)) continue;
    const float crossing = a.x + (point.y - a.y) * (b.x - a.x) / (b.y - a.y);
    if (point.x < crossing) within = !within;
  }
  return within;
}

float distance_to_segment(Point p, Point a, Point b) {
  const float dx = b.x - a.x;
  const float dy = b.y - a.y;
  const float length = dx * dx + dy * dy;
  const float along =
      length == 0 ? 0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0F, 1.0F);
  return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

}  // namespace

Canvas::Canvas(int width, int height)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {}

void Canvas::blend(int x, int y, Color color, float coverage) {
  Color& pixel = pixels_[static_cast<std::size_t>(y * width_ + x)];
  for (std::size_t c = 0; c < 3; ++c) pixel[c] += (color[c] - pixel[c]) * coverage;
}

void Canvas::fill(std::span<const Point> polygon, Color color) {
  const auto [left, right] = std::ranges::minmax(polygon, {}, &Point::x);
  const auto [top, bottom] = std::ranges::minmax(polygon, {}, &Point::y);
  const int first_x = std::max(0, static_cast<int>(std::floor(left.x)));
  const int last_x = std::min(width_ - 1, static_cast<int>(std::floor(right.x)));
  const int first_y = std::max(0, static_cast<int>(std::floor(top.y)));
  const int last_y = std::min(height_ - 1, static_cast<int>(std::floor(bottom.y)));
  for (int y = first_y; y <= last_y; ++y) {
    for (int x = first_x; x <= last_x; ++x) {
      int hits = 0;
      for (int sample = 0; sample < samples * samples; ++sample) {
        const float dx = (static_cast<float>(sample % samples) + 0.5F) / samples;
        const int row = sample / samples;
        const float dy = (static_cast<float>(row) + 0.5F) / samples;
        hits += inside(polygon, {static_cast<float>(x) + dx, static_cast<float>(y) + dy}) ? 1 : 0;
      }
      if (hits > 0) blend(x, y, color, static_cast<float>(hits) / (samples * samples));
    }
  }
}

void Canvas::line(Point from, Point to, float thickness, Color color) {
  const float reach = thickness / 2 + 1;
  const auto low = [reach](float a, float b) {
    return std::max(0, static_cast<int>(std::floor(std::min(a, b) - reach)));
  };
  const auto high = [reach](float a, float b, int size) {
    return std::min(size - 1, static_cast<int>(std::floor(std::max(a, b) + reach)));
  };
  for (int y = low(from.y, to.y); y <= high(from.y, to.y, height_); ++y) {
    for (int x = low(from.x, to.x); x <= high(from.x, to.x, width_); ++x) {
      const Point centre{static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F};
      const float edge = thickness / 2 - distance_to_segment(centre, from, to) + 0.5F;
      if (edge > 0) blend(x, y, color, std::min(edge, 1.0F));
    }
  }
}

void Canvas::fade(float share, float light) {
  for (Color& pixel : pixels_) {
    const float grey = 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
    for (float& c : pixel) c = (c + (grey - c) * share) * light;
  }
}

void Canvas::grain(float amount) {
  std::uint32_t state = 1;
  for (Color& pixel : pixels_) {
    state = state * 1664525U + 1013904223U;  // a linear congruential generator is plenty here
    const float noise = (static_cast<float>(state >> 8) * 0x1p-23F - 1.0F) * amount;
    for (float& c : pixel) c = std::clamp(c + noise, 0.0F, 255.0F);
  }
}

void Canvas::write_png(const std::string& path) const {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(pixels_.size() * 3);
  for (const Color& pixel : pixels_) {
    for (float c : pixel) {
      bytes.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(c, 0.0F, 255.0F))));
    }
  }
  if (stbi_write_png(path.c_str(), width_, height_, 3, bytes.data(), width_ * 3) == 0) {
    throw std::runtime_error("'" + path + "' cannot be written");
  }
}

}  // namespace line_detection
