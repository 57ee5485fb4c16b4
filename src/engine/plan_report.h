// Plans of sessions, and the figures in them. Why it exists: prediction is a feature of its own;
// its constants stand beside the measurements that set them. May touch: state.h.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "engine/state.h"

namespace plimsoll {

/// The same program on the same model differs by about this much from process to process (pages
/// that the kernel maps around a fault). The smallest limit must work in any process.
inline constexpr std::uint64_t between_processes_bytes = 5 << 18;

/// Plans for the inputs as set and picks the measures that make it fit.
enum class PlanPurpose : std::uint8_t {
  promise,  ///< what the caller is told: holds for any process
  run,      ///< the last look before a run, when more is resident already
};
[[nodiscard]] PlanReport plan_session(Session::State& session, PlanPurpose purpose,
                                      const HostExpectation& expected = {});
/// What worker threads' stacks may cost.
[[nodiscard]] std::uint64_t stack_reserve_bytes(const Session::State& session);
/// Makes the session's execution.
void make_execution(Session::State& session);
/// Names of the graph's outputs.
[[nodiscard]] std::vector<std::string> output_names(const tensor::Graph& graph);

}  // namespace plimsoll
