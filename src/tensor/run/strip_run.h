// Computes one group of steps in strips of rows. Why it exists: see plan/strips.h. May touch:
// operands.h, plan/.
#pragma once

#include <functional>
#include <span>

#include "tensor/run/operands.h"

namespace plimsoll::tensor {

/// What happens between and around the steps of a group.
struct StripHooks {
  std::function<void()> before_round;  ///< may throw: cancelled
  /// Called after each part of a step with its number within the group and the seconds it took;
  /// empty where nobody wants to know.
  std::function<void(std::size_t step, double seconds)> timed;
};

/// Runs steps [group.first, group.last) of the plan. Throws what kernels and operators throw, with
/// the node's name.
void run_strips(const StageMemory& memory, const StagePlan& plan, const PlannedGroup& group,
                kernels::ThreadPool& threads, const StripHooks& hooks);

}  // namespace plimsoll::tensor
