#include "tensor/plan/execution_order.h"

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>
#include <unordered_map>

#include "tensor/operators/planned_context.h"
#include "tensor/plan/kernel_node.h"
#include "tensor/plan/strip_search.h"

namespace plimsoll::tensor {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// What the search needs to know of a program. Values that share memory by being views of each
/// other count as one, a root.
struct Facts {
  struct NodeFacts {
    std::vector<std::uint32_t> reads;   ///< distinct roots of this stage
    std::vector<std::uint32_t> writes;  ///< roots that it makes
    std::vector<std::uint32_t> next;    ///< nodes that read a result, distinct
    std::uint32_t waits_for = 0;        ///< nodes whose results it reads, distinct
    std::uint64_t scratch = 0;
    std::uint32_t in_place = none;  ///< the root that output 0 may overwrite
  };
  std::vector<NodeFacts> nodes;
  std::vector<std::uint64_t> bytes;    ///< by root
  std::vector<std::uint32_t> readers;  ///< by root: nodes, and one more where it outlives the stage

  Facts(Program& program, int threads) {
    std::unordered_map<ValueId, std::uint32_t> maker;
    std::unordered_map<ValueId, std::uint32_t> root_of;
    nodes.resize(program.nodes.size());
    for (std::uint32_t number = 0; number < nodes.size(); ++number) {
      const ProgramNode& node = program.nodes[number];
      NodeFacts& facts = nodes[number];
      std::vector<std::uint32_t> makers;
      for (ValueId id : node.inputs) {
        if (const auto found = maker.find(id); found != maker.end()) {
          makers.push_back(found->second);
          facts.reads.push_back(root_of.at(id));
        }
      }
      make_distinct(makers);
      make_distinct(facts.reads);
      facts.waits_for = static_cast<std::uint32_t>(makers.size());
      for (std::uint32_t other : makers) nodes[other].next.push_back(number);
      for (std::uint32_t root : facts.reads) ++readers[root];
      const bool view = is_view(node) && root_of.contains(node.inputs[0]);
      for (ValueId id : node.outputs) {
        if (id == no_value) continue;
        maker.emplace(id, number);
        root_of.emplace(id, view ? root_of.at(node.inputs[0]) : add_root(program, id));
        if (!view) facts.writes.push_back(root_of.at(id));
      }
      if (!is_view(node)) add_memory(program, node, root_of, threads, facts);
    }
    for (ValueId id : program.live_out) {
      if (const auto found = root_of.find(id); found != root_of.end()) ++readers[found->second];
    }
  }

 private:
  static void make_distinct(std::vector<std::uint32_t>& list) {
    std::ranges::sort(list);
    const auto rest = std::ranges::unique(list);
    list.erase(rest.begin(), rest.end());
  }

  std::uint32_t add_root(const Program& program, ValueId id) {
    const ProgramValue& value = program.values[id];
    const bool held = value.kind == ValueKind::activation && !value.dynamic;
    bytes.push_back(
        held ? checked_bytes(value.type.shape, element_size(value.type.element), value.name.c_str())
             : 0);
    readers.push_back(0);
    return static_cast<std::uint32_t>(bytes.size() - 1);
  }

  void add_memory(Program& program, const ProgramNode& node,
                  const std::unordered_map<ValueId, std::uint32_t>& root_of, int threads,
                  NodeFacts& facts) const {
    const bool kernel = node.kernel != nullptr;
    if (kernel) {
      facts.scratch = node.kernel->scratch_bytes(threads);
    } else if (node.op->scratch != nullptr) {
      facts.scratch = node.op->scratch(PlannedContext(program, node));
    }
    const int input = kernel ? node.kernel->in_place_input() : node.op->in_place_input;
    if (input < 0 || static_cast<std::size_t>(input) >= node.inputs.size()) return;
    const auto source = root_of.find(node.inputs[static_cast<std::size_t>(input)]);
    if (source == root_of.end() || facts.writes.empty()) return;
    if (bytes[source->second] == bytes[facts.writes[0]]) facts.in_place = source->second;
  }
};

/// A set of executed nodes, and the best known way to it.
struct State {
  std::uint64_t set = 0;  ///< a hash of the set
  std::uint64_t live = 0;
  std::uint64_t peak = 0;
  std::uint32_t step = none;             ///< the last of the way, in the search's history
  std::vector<std::uint32_t> readers;    ///< by root, that have not run
  std::vector<std::uint32_t> waits_for;  ///< by node
  std::vector<std::uint32_t> ready;      ///< ascending
};

struct Step {
  std::uint32_t before;
  std::uint32_t node;
};

struct Candidate {
  std::uint64_t peak;
  std::uint64_t live;
  std::uint32_t node;
  std::uint32_t state;
  std::uint64_t set;
  [[nodiscard]] auto rank() const { return std::tie(peak, live, node, state); }
};

class Search {
 public:
  explicit Search(const Facts& facts) : facts_(facts) {
    std::mt19937_64 random(1);  // the same numbers everywhere: the standard fixes them
    for (std::size_t node = 0; node < facts.nodes.size(); ++node) marks_.push_back(random());
  }

  std::vector<std::uint32_t> best(std::size_t width) {
    std::vector<State> states{start()};
    for (std::size_t length = 0; length < facts_.nodes.size(); ++length) {
      std::vector<Candidate> candidates;
      for (std::uint32_t number = 0; number < states.size(); ++number) {
        for (std::uint32_t node : states[number].ready) {
          candidates.push_back(candidate(states[number], number, node));
        }
      }
      std::ranges::sort(candidates, {}, &Candidate::rank);
      std::vector<State> next;
      for (const Candidate& one : candidates) {
        if (next.size() == width) break;
        if (std::ranges::any_of(next, [&](const State& s) { return s.set == one.set; })) continue;
        next.push_back(after(states[one.state], one));
      }
      states = std::move(next);
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t step = states.front().step; step != none; step = history_[step].before) {
      order.push_back(history_[step].node);
    }
    std::ranges::reverse(order);
    return order;
  }

 private:
  [[nodiscard]] State start() const {
    State state;
    state.readers = facts_.readers;
    for (std::uint32_t node = 0; node < facts_.nodes.size(); ++node) {
      state.waits_for.push_back(facts_.nodes[node].waits_for);
      if (facts_.nodes[node].waits_for == 0) state.ready.push_back(node);
    }
    return state;
  }

  [[nodiscard]] Candidate candidate(const State& state, std::uint32_t number,
                                    std::uint32_t node) const {
    const Facts::NodeFacts& facts = facts_.nodes[node];
    std::uint64_t made = 0;
    std::uint64_t given_back = 0;
    for (std::uint32_t root : facts.writes) {
      made += facts_.bytes[root];
      if (facts_.readers[root] == 0) given_back += facts_.bytes[root];
    }
    std::uint64_t reused = 0;
    for (std::uint32_t root : facts.reads) {
      if (state.readers[root] != 1) continue;
      given_back += facts_.bytes[root];
      if (root == facts.in_place) reused = facts_.bytes[root];
    }
    const std::uint64_t during = state.live + made - reused + facts.scratch;
    return {std::max(state.peak, during), state.live + made - given_back, node, number,
            state.set ^ marks_[node]};
  }

  State after(const State& before, const Candidate& choice) {
    State state = before;
    state.set = choice.set;
    state.live = choice.live;
    state.peak = choice.peak;
    history_.push_back({before.step, choice.node});
    state.step = static_cast<std::uint32_t>(history_.size() - 1);
    const Facts::NodeFacts& facts = facts_.nodes[choice.node];
    for (std::uint32_t root : facts.reads) --state.readers[root];
    std::erase(state.ready, choice.node);
    for (std::uint32_t node : facts.next) {
      if (--state.waits_for[node] == 0) {
        state.ready.insert(std::ranges::lower_bound(state.ready, node), node);
      }
    }
    return state;
  }

  const Facts& facts_;
  std::vector<std::uint64_t> marks_;  ///< by node; a set's hash is their exclusive or
  std::vector<Step> history_;
};

std::uint64_t peak_of(Program& program, const StageOptions& options) {
  const std::vector<std::uint64_t> live = estimate_stage(program, StripFacts{}, options);
  return live.empty() ? 0 : std::ranges::max(live);
}

void reorder(Program& program, const std::vector<std::uint32_t>& order) {
  std::vector<ProgramNode> nodes;
  nodes.reserve(order.size());
  for (std::uint32_t number : order) nodes.push_back(std::move(program.nodes[number]));
  program.nodes = std::move(nodes);
}

std::vector<std::uint32_t> inverse(const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> back(order.size());
  for (std::uint32_t place = 0; place < order.size(); ++place) back[order[place]] = place;
  return back;
}

/// What no order can avoid: each node's own operands, results and scratch.
std::uint64_t unavoidable(const Facts& facts) {
  std::uint64_t most = 0;
  for (const Facts::NodeFacts& node : facts.nodes) {
    std::uint64_t bytes = node.scratch;
    for (std::uint32_t root : node.reads) bytes += facts.bytes[root];
    for (std::uint32_t root : node.writes) bytes += facts.bytes[root];
    if (node.in_place != none) bytes -= facts.bytes[node.in_place];
    most = std::max(most, bytes);
  }
  return most;
}

std::uint64_t least_arena(Program& program, StageOptions options) {
  options.strips = choose_strips(program, options, {0, 0});
  return stage_arena_bytes(program, options.strips.empty() ? StripFacts{} : strip_facts(program),
                           options);
}

}  // namespace

std::vector<std::uint32_t> lower_peak_order(Program& program, const StageOptions& options,
                                            std::size_t width) {
  if (program.nodes.size() < 3 || program.nodes.size() > most_ordered_nodes) return {};
  const std::uint64_t present = peak_of(program, options);
  const Facts facts(program, options.threads);
  if (present <= unavoidable(facts)) return {};
  std::vector<std::uint32_t> order = Search(facts).best(width);
  reorder(program, order);
  const bool better = peak_of(program, options) < present;
  reorder(program, inverse(order));
  if (!better) order.clear();
  return order;
}

void order_for_peak(Program& program, int threads) {
  StageOptions options;
  options.threads = threads;
  const std::vector<std::uint32_t> order = lower_peak_order(program, options);
  if (order.empty()) return;
  const std::uint64_t whole = stage_arena_bytes(program, StripFacts{}, options);
  const std::uint64_t least = least_arena(program, options);
  reorder(program, order);
  if (stage_arena_bytes(program, StripFacts{}, options) >= whole ||
      least_arena(program, options) > least) {
    reorder(program, inverse(order));
  }
}

}  // namespace plimsoll::tensor
