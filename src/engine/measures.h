// Which measures make a run fit. Why it exists: the fastest plan that keeps to the limit is wanted,
// and the limit below which nothing works must be known. Pure functions over a cost that the caller
// knows; may touch: tensor/run/execution.h (the choice), plimsoll/engine.h (the policy).
//
// In the order in which they are taken, cheapest first:
//   1  a smaller window for encoding: more and smaller reads while loading
//   2  shorter strips of rows: weights of convolutions are read from memory more often
//   3  streamed weights: read from the file and packed again for every use, in every run
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plimsoll/engine.h"
#include "tensor/run/execution.h"

namespace plimsoll {

/// The peak that a choice would lead to, in bytes.
using PeakOf = std::function<std::uint64_t(const tensor::PlanChoice&)>;

/// The choice for speed alone.
[[nodiscard]] tensor::PlanChoice fastest_choice();
/// The choice that needs least: no other has a lower peak.
[[nodiscard]] tensor::PlanChoice least_choice(std::size_t streamable_weights);

/// The first choice in the order above whose peak is at most `limit_bytes`; where there is none,
/// the least.
[[nodiscard]] tensor::PlanChoice choose_measures(Policy policy, std::uint64_t limit_bytes,
                                                 std::size_t streamable_weights,
                                                 const PeakOf& peak_of);

}  // namespace plimsoll
