#include "memory/timeline.h"

#include <algorithm>
#include <chrono>

#include "memory/probe.h"

namespace plimsoll::memory {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Reading /proc/self/status takes about 20 µs; once a millisecond costs 2 %.
constexpr double probe_interval_seconds = 0.001;

}  // namespace

Timeline::Timeline(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 16)) {
  origin_ = now_seconds();
}

void Timeline::record(Kind kind, std::string_view budget, std::string_view purpose,
                      std::int64_t delta_bytes, std::uint64_t ledger_bytes) {
  const std::scoped_lock lock(mutex_);
  const double seconds = now_seconds() - origin_;
  if (kind == Kind::phase || kind == Kind::sample ||
      seconds - last_probe_ >= probe_interval_seconds) {
    const ProcessMemory memory = probe_process();
    last_resident_ = memory.resident_bytes;
    last_peak_ = memory.peak_resident_bytes;
    last_probe_ = seconds;
  }
  if (kind == Kind::sample || kind == Kind::phase) ledger_bytes = last_ledger_;
  last_ledger_ = ledger_bytes;
  if (events_.size() >= capacity_) {
    // Of two neighbours that are no phases the one with the larger resident figure stays.
    std::vector<Event> kept;
    kept.reserve(capacity_);
    for (std::size_t index = 0; index < events_.size(); ++index) {
      const bool pair = index + 1 < events_.size() && events_[index].kind != Kind::phase &&
                        events_[index + 1].kind != Kind::phase;
      if (pair) {
        const bool first = events_[index].resident_bytes >= events_[index + 1].resident_bytes;
        kept.push_back(std::move(events_[first ? index : index + 1]));
        ++index;
      } else {
        kept.push_back(std::move(events_[index]));
      }
    }
    events_ = std::move(kept);
  }
  events_.push_back({seconds, kind, std::string(budget), std::string(purpose), delta_bytes,
                     ledger_bytes, last_resident_, last_peak_});
}

void Timeline::begin_phase(std::string_view name) {
  record(Kind::phase, name, {}, 0, 0);
}

void Timeline::sample() {
  record(Kind::sample, {}, {}, 0, 0);
}

std::vector<Timeline::Event> Timeline::events() const {
  const std::scoped_lock lock(mutex_);
  return events_;
}

std::vector<Timeline::Phase> Timeline::phases() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Phase> phases;
  std::uint64_t peak_before = 0;
  for (const Event& event : events_) {
    if (event.kind == Kind::phase) {
      // The figures of the boundary belong to the phase that ends.
      if (!phases.empty()) {
        Phase& ended = phases.back();
        ended.end_seconds = event.seconds;
        ended.kernel_peak_bytes =
            std::max(ended.kernel_peak_bytes,
                     event.peak_bytes > peak_before ? event.peak_bytes : event.resident_bytes);
      }
      phases.push_back({event.budget, event.seconds, event.seconds, event.resident_bytes});
      peak_before = event.peak_bytes;
      continue;
    }
    if (phases.empty()) continue;
    Phase& phase = phases.back();
    phase.end_seconds = event.seconds;
    phase.kernel_peak_bytes =
        std::max(phase.kernel_peak_bytes,
                 event.peak_bytes > peak_before ? event.peak_bytes : event.resident_bytes);
  }
  return phases;
}

}  // namespace plimsoll::memory
