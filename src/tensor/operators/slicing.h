// What a Slice takes of its input. Why it exists: the planner reads through slices instead of
// copying them. May touch: graph/program.h.
#pragma once

#include <optional>
#include <vector>

#include "tensor/graph/program.h"

namespace plimsoll::tensor {

/// A slice of one dimension. `step` is not 0 and may be negative.
struct SliceRange {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

/// The slice of each dimension of a Slice node; nothing where its parameters are not known.
[[nodiscard]] std::optional<std::vector<SliceRange>> known_slice(Program& program,
                                                                 const ProgramNode& node);

}  // namespace plimsoll::tensor
