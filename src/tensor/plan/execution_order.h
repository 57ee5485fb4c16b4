// The order in which a stage's nodes run, chosen for the peak. Why it exists: exporters write nodes
// in an order of their own, often all branches side by side, which keeps alive what could have been
// used up. May touch: stage_plan.h, strip_search.h.
//
// A beam search over topological orders: from the beginning on, the few best sets of executed nodes
// are extended by every node that is ready. Of two ways to the same set, the one with the lower
// peak stays; sets rank by the peak so far, then by what is alive. (Exact search over sets is known
// from Ahn et al., "Ordering Chaos: Memory-Aware Scheduling of Irregularly Wired Neural Networks
// for Edge Devices", 2020; the beam bounds its time and memory.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/plan/stage_plan.h"

namespace plimsoll::tensor {

/// Sets that are kept at each length. Peaks found on the 300 random graphs of 40 nodes of
/// execution_order_test.cpp, mean beside a width of 512: 1: 1.151, 4: 1.031, 8: 1.011, 16: 1.004,
/// 32: 1.0002, 64: 1.0001.
inline constexpr std::size_t order_beam_width = 32;

/// Programs of more nodes keep their order: the search holds and copies a few counters per node
/// and value for each set (some 2 MB here).
inline constexpr std::size_t most_ordered_nodes = 2048;

/// A topological order of the program's nodes whose activations are estimated to need less than
/// those of the present order at the worst moment; nothing where the search finds none.
[[nodiscard]] std::vector<std::uint32_t> lower_peak_order(Program& program,
                                                          const StageOptions& options,
                                                          std::size_t width = order_beam_width);

/// Gives the nodes such an order, if the stage then takes less memory, and no more when computed in
/// strips, with so many threads. Results keep their bits.
void order_for_peak(Program& program, int threads);

}  // namespace plimsoll::tensor
