// A small picture to draw on. Why it exists: the demo makes its own picture, so that it needs no
// photograph of anybody's. May touch: the standard library, stb_image_write.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace line_detection {

/// In pixels; the centre of the top left pixel is (0.5, 0.5), y points down.
struct Point {
  float x = 0;
  float y = 0;
};

/// Red, green and blue, 0 to 255.
using Color = std::array<float, 3>;

class Canvas {
 public:
  Canvas(int width, int height);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }

  /// Fills a polygon without self-intersections, with smooth edges (4×4 samples in a pixel).
  void fill(std::span<const Point> polygon, Color color);
  /// A line of the given thickness in pixels, with round ends.
  void line(Point from, Point to, float thickness, Color color);
  /// Every pixel becomes color · (1 − share) + grey of it · share, then is scaled by `light`.
  void fade(float share, float light);
  /// Adds noise in ±amount, the same each time.
  void grain(float amount);
  /// Throws std::runtime_error when the file cannot be written.
  void write_png(const std::string& path) const;

 private:
  void blend(int x, int y, Color color, float coverage);

  int width_;
  int height_;
  std::vector<Color> pixels_;
};

}  // namespace line_detection
