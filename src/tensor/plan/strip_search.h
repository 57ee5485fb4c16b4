// Which nodes to compute in strips. Why it exists: strips trade the size of what lies between nodes
// for reading the weights once per strip; the planner asks for as few bytes as it needs. A pure
// function; may touch: stage_plan.h.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/plan/stage_plan.h"

namespace plimsoll::tensor {

/// Groups under which the activations need at most `target_bytes`, with strips as tall as that
/// allows; where no groups do, those that need least. `options.strips` is not read.
[[nodiscard]] std::vector<StripGroup> choose_strips(Program& program, const StageOptions& options,
                                                    std::uint64_t target_bytes);

}  // namespace plimsoll::tensor
