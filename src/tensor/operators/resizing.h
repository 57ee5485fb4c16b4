// How a resize weighs its input's positions. Why it exists: the channels-last kernel uses the
// reference's taps, so that both interpolate alike. May touch: graph/program.h.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tensor/graph/program.h"

namespace plimsoll::tensor {

/// Weights of consecutive input positions for one output position.
struct ResizeTaps {
  std::int64_t first = 0;
  std::vector<float> weights;
  bool outside = false;  ///< extrapolated
};

/// The taps of each axis and output position of a 4-D Resize or Upsample that leaves axes 0 and 1
/// alone and extrapolates nowhere; nothing for others or where scales are not known.
[[nodiscard]] std::optional<std::array<std::vector<ResizeTaps>, 4>> resize_taps(
    Program& program, const ProgramNode& node);

}  // namespace plimsoll::tensor
