#include "tensor/plan/plan_choice.h"

#include <algorithm>

namespace plimsoll::tensor {
namespace {

/// Nodes that are tried one by one where placing all takes more memory: each try lays the arena
/// out anew.
constexpr std::size_t most_tries = 64;

/// Parts that lie in their wholes, as far as the arena does not become larger by it: a whole lives
/// from its first part on, and what was computed in place no longer is.
std::vector<PlacedPart> choose_placements(Program& program, StageOptions options) {
  const std::vector<PlacedPart> possible =
      possible_placements(program, options.external_outputs, options.strips);
  if (possible.empty()) return {};
  const StripFacts facts = options.strips.empty() ? StripFacts{} : strip_facts(program);
  options.placed.clear();
  std::uint64_t least = stage_arena_bytes(program, facts, options);
  options.placed = possible;
  if (stage_arena_bytes(program, facts, options) <= least) return possible;
  std::vector<PlacedPart> placed;
  std::size_t tries = 0;
  for (auto first = possible.begin(); first != possible.end() && tries < most_tries; ++tries) {
    const auto last = std::find_if(
        first, possible.end(), [&](const PlacedPart& part) { return part.node != first->node; });
    options.placed = placed;
    options.placed.insert(options.placed.end(), first, last);
    if (const std::uint64_t bytes = stage_arena_bytes(program, facts, options); bytes <= least) {
      least = bytes;
      placed = options.placed;
    }
    first = last;
  }
  return placed;
}

}  // namespace

StagePlan plan_stage(Program& program, StageOptions options, const PlanChoice& choice,
                     bool first_stage) {
  options.strips.clear();
  options.streamed.clear();
  options.placed.clear();
  if (choice.streamed != 0) {
    const StagePlan resident = plan_stage(program, options);
    const std::vector<std::uint32_t> order = streaming_order(resident);
    const std::size_t count = first_stage ? std::min(choice.streamed, order.size()) : order.size();
    options.streamed.assign(resident.weights.size(), false);
    for (std::size_t index = 0; index < count; ++index) options.streamed[order[index]] = true;
  }
  if (choice.strips) options.strips = choose_strips(program, options, *choice.strips);
  options.placed = choose_placements(program, options);
  return plan_stage(program, options);
}

}  // namespace plimsoll::tensor
