// Concat and Split without copying: the parts lie in the whole. Why it exists: a value that only
// becomes a part of another can be computed where it will lie, and parts of a value can be read
// where they are. Pure functions; may touch: graph/program.h, strips.h.
//
//   a ──┐                 ┌──────┬───────────┐
//       Concat ── whole   │  a   │     b     │   one buffer of the arena; the node needs no step
//   b ──┘                 └──────┴───────────┘
//                         offset 0   offset a
//
// Each value lies in at most one other, so that following `whole` ends at the value that owns the
// buffer. Values that lie in one buffer overlap only where they hold the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/graph/program.h"
#include "tensor/plan/strips.h"

namespace plimsoll::tensor {

struct PlacedPart {
  ValueId part = no_value;
  ValueId whole = no_value;
  std::uint64_t offset = 0;  ///< of the part in the whole, in bytes
  std::uint32_t node = 0;    ///< the Concat or Split
  friend bool operator==(const PlacedPart&, const PlacedPart&) = default;
};

/// Same bytes, same order: the output is the input under another shape.
[[nodiscard]] bool is_view(const ProgramNode& node);

/// The parts that can lie in their wholes, by node. Left out: values that do not own plain memory
/// (views, constants, those in `external`), what is computed in strips, parts that are not
/// contiguous in the whole, and parts that would not be aligned as a buffer of their own is.
[[nodiscard]] std::vector<PlacedPart> possible_placements(const Program& program,
                                                          std::span<const ValueId> external,
                                                          std::span<const StripGroup> strips);

}  // namespace plimsoll::tensor
