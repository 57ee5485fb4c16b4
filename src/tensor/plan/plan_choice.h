// What the planner of a whole run decides for a stage. Why it exists: the same choice holds for all
// stages of a run, known now or later, and for looking ahead. May touch: stage_plan.h,
// strip_search.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tensor/plan/stage_plan.h"
#include "tensor/plan/strip_search.h"

namespace plimsoll::tensor {

struct PlanChoice {
  std::uint64_t window_bytes = 1 << 20;  ///< staging for encoding
  /// Activations that need more are computed in strips of rows, as far as that helps; nothing:
  /// never.
  std::optional<StripTarget> strips;
  /// How many of the first stage's weights, in streaming_order, are streamed. Where it is not 0,
  /// all weights of later stages that can be are streamed too.
  std::size_t streamed = 0;
  friend bool operator==(const PlanChoice&, const PlanChoice&) = default;
};

/// The plan of a stage. `options.strips`, `options.placed` and `options.streamed` are
/// made here.
[[nodiscard]] StagePlan plan_stage(Program& program, StageOptions options, const PlanChoice& choice,
                                   bool first_stage);

}  // namespace plimsoll::tensor
