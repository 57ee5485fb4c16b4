#include "tensor/plan/plan_choice.h"

#include <algorithm>

namespace plimsoll::tensor {

StagePlan plan_stage(Program& program, StageOptions options, const PlanChoice& choice,
                     bool first_stage) {
  options.strips.clear();
  options.streamed.clear();
  if (choice.streamed != 0) {
    const StagePlan resident = plan_stage(program, options);
    const std::vector<std::uint32_t> order = streaming_order(resident);
    const std::size_t count = first_stage ? std::min(choice.streamed, order.size()) : order.size();
    options.streamed.assign(resident.weights.size(), false);
    for (std::size_t index = 0; index < count; ++index) options.streamed[order[index]] = true;
  }
  if (choice.strips) options.strips = choose_strips(program, options, *choice.strips);
  return plan_stage(program, options);
}

}  // namespace plimsoll::tensor
