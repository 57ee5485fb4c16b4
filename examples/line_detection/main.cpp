// The drawing half of ./demo: `line_detection draw SCENE.png` makes the picture that the model is
// given, `line_detection mark OFFSETS.npy SCORES.npy MARKED.png` marks what it found in it.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "room.h"
#include "segments.h"

namespace line_detection {
namespace {

constexpr int side = 512;

void mark(const std::string& offsets, const std::string& scores, const std::string& picture) {
  const std::vector<Segment> segments = read_segments(offsets, scores, {});
  Canvas canvas = draw_room(side, side);
  canvas.fade(0.8F, 0.55F);
  for (const Segment& segment : segments) {
    // From yellow for what is certain to red for what is barely taken.
    const float certain = std::clamp(segment.score * 1.6F, 0.0F, 1.0F);
    const Color color{255, 60 + 170 * certain, 40};
    canvas.line(segment.from, segment.to, 2, color);
    canvas.line(segment.from, segment.from, 5, {90, 220, 255});
    canvas.line(segment.to, segment.to, 5, {90, 220, 255});
  }
  canvas.write_png(picture);
  std::printf("%zu lines found", segments.size());
  if (!segments.empty()) {
    const Segment& best = segments.front();
    std::printf("; the most certain, at %.0f %%, from (%.0f, %.0f) to (%.0f, %.0f)",
                static_cast<double>(best.score) * 100, static_cast<double>(best.from.x),
                static_cast<double>(best.from.y), static_cast<double>(best.to.x),
                static_cast<double>(best.to.y));
  }
  std::printf("\n");
}

}  // namespace
}  // namespace line_detection

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 2 && arguments[0] == "draw") {
      line_detection::draw_room(line_detection::side, line_detection::side).write_png(arguments[1]);
      return 0;
    }
    if (arguments.size() == 4 && arguments[0] == "mark") {
      line_detection::mark(arguments[1], arguments[2], arguments[3]);
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "line_detection: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "line_detection draw SCENE.png | mark OFFSETS.npy SCORES.npy MARKED.png\n");
  return 2;
}
