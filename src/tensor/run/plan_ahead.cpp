// What the stages after the first would take. Why it exists: a condition that the model computes is
// not known before the run, but both its branches are; the plan takes the larger. What has no size
// before it runs (NonZero, a Loop) ends the look ahead. May touch: execution.h.
//
// The stages are gone through as a run would, with nothing in memory: what a stage leaves for later
// ones is counted as kept, and each unknown branch is chosen by a decision. Decisions begin with
// every then_branch; each is turned in its order and stays turned where that takes more. With
// several unknown branches that is a heuristic: it may miss a pair that is large only together.
#include <algorithm>
#include <unordered_map>

#include "tensor/run/execution.h"
#include "tensor/run/prepare_program.h"

namespace plimsoll::tensor {
namespace {

/// Above this many unknown branches the rest keep their then_branch.
constexpr std::size_t most_turned = 16;

struct Decisions {
  std::unordered_map<const Node*, bool> taken;
  std::vector<const Node*> order;

  bool decide(const Node& node) {
    const auto [entry, is_new] = taken.try_emplace(&node, true);
    if (is_new) order.push_back(&node);
    return entry->second;
  }
};

void add_use(std::vector<WeightUse>& weights, const WeightUse& use) {
  for (WeightUse& known : weights) {
    if (known.view == use.view && known.encoding == use.encoding) {
      known.uses += use.uses;
      known.streamed = known.streamed && use.streamed;
      return;
    }
  }
  weights.push_back(use);
}

std::uint64_t value_bytes(const ProgramValue& value) {
  return static_cast<std::uint64_t>(value.type.shape.elements()) * element_size(value.type.element);
}

struct Ahead {
  std::shared_ptr<const Graph> graph;
  const ExecutionServices& services;
  const PlanChoice& choice;
  Decisions decisions;

  PlanAhead plan(Instance& instance) {
    PlanAhead result;
    std::uint64_t kept = 0;
    std::size_t decided = 0;
    bool first_stage = true;
    instance.assume_branches([&](const Node& node) {
      ++decided;
      return decisions.decide(node);
    });
    for (;;) {
      const std::size_t decided_before = decided;
      Program& program = instance.advance();
      prepare_program(program, services);
      const bool has_moved = !program.nodes.empty() || decided != decided_before;
      if (!has_moved && !instance.complete()) break;
      StageOptions options;
      options.threads = services.threads->threads();
      const StagePlan stage = plan_stage(program, options, choice, first_stage);
      first_stage = false;
      for (const WeightUse& use : stage.weights) add_use(result.weights, use);
      result.complete = instance.complete();
      if (!result.complete) {
        // A run copies them before it gives the stage's memory back.
        for (const auto& [id, place] : stage.live_out) {
          kept += value_bytes(program.values[id]);
        }
      }
      result.activation_bytes = std::max(result.activation_bytes, kept + stage.arena_bytes);
      if (result.complete) break;
      for (const auto& [id, place] : stage.live_out) {
        instance.materialise(id, program.values[id].type, nullptr, false);
      }
    }
    result.waiting_for = instance.waiting_for();
    for (const WeightUse& use : result.weights) {
      if (!use.streamed) result.weight_bytes += use.encoding.bytes;
    }
    return result;
  }
};

}  // namespace

PlanAhead Execution::plan_ahead(const PlanChoice& choice) const {
  Ahead ahead{graph_, services_, choice, {}};
  const auto plan = [&] {
    Instance instance(graph_, *services_.operators);
    set_facts(instance);
    return ahead.plan(instance);
  };
  PlanAhead largest = plan();
  bool complete = largest.complete;
  for (std::size_t turn = 0; turn < std::min(ahead.decisions.order.size(), most_turned); ++turn) {
    bool& taken = ahead.decisions.taken.at(ahead.decisions.order[turn]);
    taken = !taken;
    PlanAhead other = plan();
    complete = complete && other.complete;
    if (other.weight_bytes + other.activation_bytes >
        largest.weight_bytes + largest.activation_bytes) {
      largest = std::move(other);
    } else {
      taken = !taken;
      if (!other.complete) largest.waiting_for = std::move(other.waiting_for);
    }
  }
  largest.complete = complete;
  return largest;
}

}  // namespace plimsoll::tensor
