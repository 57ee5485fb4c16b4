// Outputs that become the next run's inputs. Why it exists: streaming audio and key-value caches
// hand a state from run to run; it stays in memory of the session and is not copied. May touch:
// state.h.
//
//   run n      reads side 0 (or the caller's first value), writes side 1
//   run n + 1  reads side 1, writes side 0
//
// An output whose size is not known before the run is computed elsewhere and copied to its side.
#pragma once

#include <cstdint>
#include <expected>

#include "engine/state.h"

namespace plimsoll {

/// What both sides of all bindings still need, as far as the sizes are known.
[[nodiscard]] std::uint64_t missing_state_bytes(const Session::State& session);
/// Before a run, after its plan: gives the outputs the sides that they write. Throws
/// Error(bad_input) when an output does not match its input's declaration.
[[nodiscard]] std::expected<void, Refusal> prepare_states(Session::State& session);
/// After a run: makes each bound output the next run's input.
[[nodiscard]] std::expected<void, Refusal> rotate_states(Session::State& session);

}  // namespace plimsoll
