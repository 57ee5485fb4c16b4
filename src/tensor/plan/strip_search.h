// Which nodes to compute in strips. Why it exists: strips trade the size of what lies between nodes
// for reading the weights once per strip; the planner asks for as few bytes as it needs. A pure
// function; may touch: stage_plan.h.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/plan/stage_plan.h"

namespace plimsoll::tensor {

/// What the activations may need.
struct StripTarget {
  std::uint64_t bytes = 0;
  /// Where not even the least keeps to `bytes`: this part more than the least is spent on taller
  /// strips, which read the weights less often.
  double slack = 0;
  friend bool operator==(const StripTarget&, const StripTarget&) = default;
};

/// Groups under which the activations need at most `target.bytes`, with strips as tall as that
/// allows; where no groups do, those that need least, or little more. `options.strips` is not read.
[[nodiscard]] std::vector<StripGroup> choose_strips(Program& program, const StageOptions& options,
                                                    const StripTarget& target);

}  // namespace plimsoll::tensor
