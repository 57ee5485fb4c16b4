// From the model's two outputs to line segments. Why it exists: M-LSD does not say "a line from
// here to there": for each place of a grid it gives a score that the middle of a line is here, and
// where that line's two ends are from here. May touch: .npy files.
#pragma once

#include <string>
#include <vector>

#include "canvas.h"

namespace line_detection {

/// A line found: its ends in pixels of the model's input, and its score, 0 to 1.
struct Segment {
  Point from;
  Point to;
  float score = 0;
};

struct Thresholds {
  float score = 0.15F;   ///< a place below this is the middle of no line
  float length = 24.0F;  ///< in pixels; shorter lines are mostly texture
};

/// Reads `offsets` (f32 [1, H, W, 4]: dx and dy of the start, dx and dy of the end, in places of
/// the grid) and `scores` (f32 [1, H, W, 1], zero where a neighbour scores more); the grid has half
/// the input's resolution. Method: Gu and others, "Towards Light-weight and Real-time Line Segment
/// Detection", 2022, section 3. Best first. Throws std::runtime_error for files that are not that.
[[nodiscard]] std::vector<Segment> read_segments(const std::string& offsets_path,
                                                 const std::string& scores_path,
                                                 Thresholds thresholds);

}  // namespace line_detection
