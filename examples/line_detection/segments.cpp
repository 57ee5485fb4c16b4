#include "segments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace line_detection {
namespace {

constexpr float pixels_per_place = 2;
/// The part of a .npy file before its header: magic, version 1.0 and the header's length.
constexpr std::size_t preamble = 10;

/// The f32 numbers of a .npy file of version 1.0, as `plimsoll run --output` writes it.
std::vector<float> read_floats(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.size() < preamble || std::memcmp(bytes.data(), "\x93NUMPY\x01", 7) != 0) {
    throw std::runtime_error("'" + path + "' is not a .npy file");
  }
  const std::size_t header = static_cast<std::uint8_t>(bytes[8]) +
                             static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[9])) * 256;
  const std::string text(bytes.data() + preamble, std::min(header, bytes.size() - preamble));
  if (text.find("'<f4'") == std::string::npos || bytes.size() < preamble + header) {
    throw std::runtime_error("'" + path + "' does not hold f32 numbers");
  }
  std::vector<float> numbers((bytes.size() - preamble - header) / sizeof(float));
  std::memcpy(numbers.data(), bytes.data() + preamble + header, numbers.size() * sizeof(float));
  return numbers;
}

}  // namespace

std::vector<Segment> read_segments(const std::string& offsets_path, const std::string& scores_path,
                                   Thresholds thresholds) {
  const std::vector<float> offsets = read_floats(offsets_path);
  const std::vector<float> scores = read_floats(scores_path);
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(scores.size())));
  if (scores.empty() || side * side != scores.size() || offsets.size() != 4 * scores.size()) {
    throw std::runtime_error("'" + offsets_path + "' and '" + scores_path +
                             "' are not offsets and scores of one square grid");
  }
  std::vector<Segment> segments;
  for (std::size_t place = 0; place < scores.size(); ++place) {
    if (scores[place] < thresholds.score) continue;
    const float x = static_cast<float>(place % side);
    const std::size_t row = place / side;
    const float y = static_cast<float>(row);
    const float* offset = offsets.data() + place * 4;
    Segment segment{{(x + offset[0]) * pixels_per_place, (y + offset[1]) * pixels_per_place},
                    {(x + offset[2]) * pixels_per_place, (y + offset[3]) * pixels_per_place},
                    scores[place]};
    if (std::hypot(segment.to.x - segment.from.x, segment.to.y - segment.from.y) <
        thresholds.length) {
      continue;
    }
    segments.push_back(segment);
  }
  std::ranges::sort(segments, std::ranges::greater{}, &Segment::score);
  return segments;
}

}  // namespace line_detection
