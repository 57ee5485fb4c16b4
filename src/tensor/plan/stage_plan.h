// A program with places for everything: which step reads and writes where. Why it exists: the peak
// of a stage is known from it before anything is allocated. May touch: graph/program.h, arena.h,
// kernel_node.h.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tensor/encode/encoding.h"
#include "tensor/graph/program.h"
#include "tensor/plan/arena.h"
#include "tensor/plan/placement.h"
#include "tensor/plan/strips.h"

namespace plimsoll::tensor {

/// Where a value is during a stage.
struct Place {
  enum class Kind : std::uint8_t {
    none,      ///< an omitted operand
    arena,     ///< `offset` bytes into the arena
    external,  ///< number `index` of the memories that the caller of the run gives
    constant,  ///< `memory`: planned bytes or an earlier stage's
    weight,    ///< number `index` of StagePlan::weights
    streamed,  ///< the same, encoded `offset` bytes into the arena before each use
  };
  Kind kind = Kind::none;
  std::uint64_t offset = 0;
  std::uint32_t index = 0;
  const std::byte* memory = nullptr;
  /// Of streamed weights that are taken in parts: columns at a time; 0: the whole weight.
  std::int64_t part_columns = 0;
  std::int64_t ring_rows = 0;  ///< of results within a strip group that are not kept whole
  std::uint64_t within = 0;    ///< bytes into the memory of the value that this one is a part of
};

struct WeightUse {
  ValueId value = no_value;
  WeightView view;
  Encoding encoding;
  std::uint32_t uses = 0;
  bool streamed = false;  ///< not held in memory: encoded anew for each use
};

struct PlannedStep {
  std::uint32_t node = 0;  ///< index into the program's nodes
  std::vector<Place> inputs;
  std::vector<Place> outputs;
  std::uint64_t scratch_bytes = 0;
  std::uint64_t scratch_offset = 0;  ///< in the arena
  std::uint64_t output_bytes = 0;
};

/// Steps [first, last) that are computed in strips of rows. All nodes of the group have a step.
struct PlannedGroup {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  StripWalk walk;
};

struct StagePlan {
  std::vector<PlannedStep> steps;
  std::vector<PlannedGroup> groups;  ///< in order
  std::vector<WeightUse> weights;
  /// Values that the caller gives memory for, in order of Place::index: inputs that are read, and
  /// outputs that were asked to be external.
  std::vector<ValueId> externals;
  std::unordered_map<ValueId, Place> live_out;
  std::uint64_t arena_bytes = 0;
  std::uint64_t arena_lower_bound = 0;
  std::uint64_t weight_bytes = 0;    ///< encoded and resident
  std::uint64_t streamed_bytes = 0;  ///< of the weights that are streamed, encoded
};

struct StageOptions {
  int threads = 1;
  std::vector<ValueId> external_outputs;
  std::vector<StripGroup> strips;  ///< disjoint, in order; each can be computed in strips
  /// Some of possible_placements: parts that lie in their wholes.
  std::vector<PlacedPart> placed;
  /// By number in StagePlan::weights (which does not depend on this): those to be streamed. May be
  /// shorter than the list.
  std::vector<bool> streamed;
  /// Streamed weights of products are taken in parts of this size, encoded, or one panel.
  std::uint64_t part_bytes = 1 << 20;
};

/// The numbers of the weights that streaming saves memory for, those first that cost least: the
/// most reused stay longest, and of those used as often the smallest.
[[nodiscard]] std::vector<std::uint32_t> streaming_order(const StagePlan& plan);

/// Bytes of activations and scratch that are alive at each node: what plan_stage would lay out, at
/// best. Costs much less than a plan.
[[nodiscard]] std::vector<std::uint64_t> estimate_stage(Program& program, const StripFacts& facts,
                                                        const StageOptions& options);

/// Bytes of the arena that plan_stage would lay out.
[[nodiscard]] std::uint64_t stage_arena_bytes(Program& program, const StripFacts& facts,
                                              const StageOptions& options);

/// Places every value of `program`. Reads program.values' constants (small weights included).
[[nodiscard]] StagePlan plan_stage(Program& program, const StageOptions& options);

}  // namespace plimsoll::tensor
