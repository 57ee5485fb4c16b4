// The engine's timeline as a picture.
#include "memory/timeline_svg.h"

#include "engine/state.h"
#include "memory/probe.h"
#include "plimsoll/engine.h"

namespace plimsoll {

std::string Engine::timeline_svg(std::string_view title, std::uint64_t predicted_peak_bytes) const {
  const State& state = *state_;
  const auto phases = state.timeline->phases();
  state.timeline->sample_now();
  memory::TimelineFacts facts;
  facts.name = title;
  // The picture is of the whole process, whatever the limit covers.
  const std::uint64_t outside = state.options.limit_covers_process ? 0 : state.base_bytes;
  facts.limit_bytes = state.limit_bytes > UINT64_MAX - outside ? 0 : state.limit_bytes + outside;
  facts.limit_source = state.limit_source;
  facts.base_bytes = state.base_bytes;
  facts.predicted_peak_bytes = predicted_peak_bytes == 0 ? 0 : predicted_peak_bytes + outside;
  facts.kernel_peak_bytes = memory::probe_process().peak_resident_bytes;
  return memory::timeline_svg(state.timeline->events(), phases, facts);
}

}  // namespace plimsoll
