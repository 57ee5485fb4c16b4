// Where activations live inside one arena. Why it exists: offsets planned from liveness make the
// peak known before anything runs. Pure functions; may touch: nothing but the standard library.
//
// Method: greedy by size (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
// Inference", 2020), in several orders; the smallest result is taken. The lower bound, the largest
// sum of buffers alive at one step, tells how good it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plimsoll::tensor {

/// Every offset is a multiple of this: one cache line, and the widest vector.
inline constexpr std::uint64_t arena_alignment = 64;

/// A buffer alive from step `first` to step `last`, both included.
struct BufferLife {
  std::uint64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
};

struct ArenaLayout {
  std::vector<std::uint64_t> offsets;  ///< one per buffer
  std::uint64_t bytes = 0;             ///< size of the arena
  std::uint64_t lower_bound = 0;       ///< no layout can be smaller
};

/// The sum of the buffers alive at each step.
[[nodiscard]] std::vector<std::uint64_t> live_bytes(std::span<const BufferLife> buffers);

/// Buffers whose lives overlap get disjoint ranges. Zero-sized buffers get offset 0.
[[nodiscard]] ArenaLayout plan_arena(std::span<const BufferLife> buffers);

}  // namespace plimsoll::tensor
