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

std::string_view purpose_kind(std::string_view purpose) noexcept {
  std::string_view kind = purpose.substr(0, purpose.find('\''));
  const auto trim = [&] {
    while (kind.ends_with(' ')) kind.remove_suffix(1);
  };
  trim();
  for (const std::string_view word : {" of", " for"}) {
    if (kind.size() != purpose.size() && kind.ends_with(word)) kind.remove_suffix(word.size());
  }
  trim();
  return kind.empty() ? purpose : kind;
}

Timeline::Timeline(std::size_t capacity)
    : capacity_(std::max(capacity, least_capacity)), origin_(now_seconds()) {
  names_.emplace_back();         // 0: no name
  names_.emplace_back("other");  // 1: where there is no room for more names
  purposes_.push_back(1);
  entries_.reserve(capacity_);  // pages of it become resident as events come
}

void Timeline::record(Kind kind, std::string_view budget, std::string_view purpose,
                      std::int64_t delta_bytes, std::uint64_t ledger_bytes,
                      int delta_count) noexcept {
  const std::scoped_lock lock(mutex_);
  now_ = now_seconds() - origin_;
  last_ledger_ = ledger_bytes;
  try {
    const Name kind_name = name_of(purpose_kind(purpose));
    // What is reserved is not resident yet, what is released is gone: the figure belongs to what
    // was held before a claim and to what is held after a release.
    Amount& amount = live_[purpose_of(kind_name)];
    if (kind == Kind::release) {
      // A claim whose record was lost may leave less than is given back.
      amount.bytes -= std::min(amount.bytes, static_cast<std::uint64_t>(-delta_bytes));
      amount.count -= std::min<std::uint64_t>(amount.count, delta_count < 0 ? 1 : 0);
    }
    probe_if_older_than(probe_interval_seconds);
    if (kind == Kind::reserve) {
      amount.bytes += static_cast<std::uint64_t>(delta_bytes);
      amount.count += delta_count > 0 ? 1 : 0;
    }
    if (!phases_.empty()) {
      OpenPhase& phase = phases_.back();
      phase.ledger_peak_bytes = std::max(phase.ledger_peak_bytes, ledger_bytes);
    }
    add(kind, name_of(budget), kind_name, delta_bytes);
  } catch (...) {  // NOLINT: an event that cannot be kept must not stop the work it tells of
  }
}

void Timeline::begin_phase(std::string_view name) noexcept {
  const std::scoped_lock lock(mutex_);
  now_ = now_seconds() - origin_;
  probe_if_older_than(0);
  close_phase();
  try {
    if (phases_.size() >= most_phases) merge_oldest_phases();
    OpenPhase& phase = phases_.emplace_back();
    phase.name = name_of(name);
    phase.begin_seconds = now_;
    phase.end_seconds = now_;
    phase.peak_before = last_peak_;
    phase.peak_bytes = last_peak_;
    phase.largest_resident = last_resident_;
    phase.fullest_seconds = now_;
    phase.ledger_peak_bytes = last_ledger_;
    phase.held = live_;
    add(Kind::phase, phase.name, 0, 0);
  } catch (...) {  // NOLINT: as in record
  }
}

void Timeline::sample() noexcept {
  const std::scoped_lock lock(mutex_);
  now_ = now_seconds() - origin_;
  if (now_ - last_probe_ < probe_interval_seconds) return;
  probe_if_older_than(0);
  add(Kind::sample, 0, 0, 0);
}

void Timeline::sample_now() noexcept {
  const std::scoped_lock lock(mutex_);
  now_ = now_seconds() - origin_;
  probe_if_older_than(0);
  add(Kind::sample, 0, 0, 0);
}

void Timeline::probe_if_older_than(double seconds) noexcept {
  if (now_ - last_probe_ < seconds) return;
  try {
    const ProcessMemory memory = probe_process();
    last_resident_ = memory.resident_bytes;
    last_peak_ = memory.peak_resident_bytes;
  } catch (...) {  // NOLINT: no /proc here; the engine said so when it started
    return;
  }
  last_probe_ = now_;
  if (phases_.empty()) return;
  OpenPhase& phase = phases_.back();
  phase.peak_bytes = last_peak_;
  if (last_resident_ > phase.largest_resident) {
    phase.largest_resident = last_resident_;
    phase.fullest_seconds = now_;
    phase.held = live_;
  }
}

void Timeline::close_phase() noexcept {
  if (!phases_.empty()) phases_.back().end_seconds = now_;
}

void Timeline::add(Kind kind, Name budget, Name purpose, std::int64_t delta_bytes) {
  if (entries_.size() >= capacity_) merge_neighbours();
  entries_.push_back(
      {now_, delta_bytes, last_ledger_, last_resident_, last_peak_, budget, purpose, kind});
}

Timeline::Name Timeline::name_of(std::string_view text) {
  const auto found = std::ranges::find(names_, text);
  if (found != names_.end()) return static_cast<Name>(found - names_.begin());
  if (names_.size() >= most_names) return 1;
  names_.emplace_back(text);
  return static_cast<Name>(names_.size() - 1);
}

std::size_t Timeline::purpose_of(Name name) {
  const auto found = std::ranges::find(purposes_, name);
  if (found != purposes_.end()) return static_cast<std::size_t>(found - purposes_.begin());
  if (purposes_.size() >= most_purposes) return 0;  // "other"
  purposes_.push_back(name);
  return purposes_.size() - 1;
}

void Timeline::merge_neighbours() noexcept {
  // Of two neighbours that begin no phase one remains, with the larger of both figures: the curve
  // gets coarser and never lower.
  std::size_t kept = 0;
  for (std::size_t index = 0; index < entries_.size(); ++kept) {
    Entry entry = entries_[index++];
    if (index < entries_.size() && entry.kind != Kind::phase &&
        entries_[index].kind != Kind::phase) {
      const Entry& next = entries_[index++];
      const std::int64_t delta = entry.delta_bytes + next.delta_bytes;
      const std::uint64_t ledger = std::max(entry.ledger_bytes, next.ledger_bytes);
      const std::uint64_t peak = std::max(entry.peak_bytes, next.peak_bytes);
      if (next.resident_bytes > entry.resident_bytes) entry = next;
      entry.delta_bytes = delta;
      entry.ledger_bytes = ledger;
      entry.peak_bytes = peak;
    }
    entries_[kept] = entry;
  }
  entries_.resize(kept);
}

void Timeline::merge_oldest_phases() {
  const Name earlier = name_of("earlier");
  OpenPhase& first = phases_[0];
  const OpenPhase& second = phases_[1];
  if (second.largest_resident > first.largest_resident) {
    first.largest_resident = second.largest_resident;
    first.fullest_seconds = second.fullest_seconds;
    first.held = second.held;
  }
  first.name = earlier;
  first.end_seconds = second.end_seconds;
  first.peak_bytes = std::max(first.peak_bytes, second.peak_bytes);
  first.ledger_peak_bytes = std::max(first.ledger_peak_bytes, second.ledger_peak_bytes);
  // Where the second began is an ordinary event from now on, so that it can be merged too.
  for (Entry& entry : entries_) {
    if (entry.kind != Kind::phase) continue;
    if (entry.seconds == first.begin_seconds) entry.budget = earlier;
    if (entry.seconds == second.begin_seconds) {
      entry.kind = Kind::sample;
      entry.budget = 0;
    }
  }
  phases_.erase(phases_.begin() + 1);
}

std::vector<Timeline::Event> Timeline::events() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Event> events;
  events.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    events.push_back({entry.seconds, entry.kind, names_[entry.budget], names_[entry.purpose],
                      entry.delta_bytes, entry.ledger_bytes, entry.resident_bytes,
                      entry.peak_bytes});
  }
  return events;
}

std::vector<Timeline::Phase> Timeline::phases() {
  const std::scoped_lock lock(mutex_);
  now_ = now_seconds() - origin_;
  probe_if_older_than(0);
  close_phase();
  std::vector<Phase> phases;
  phases.reserve(phases_.size());
  for (const OpenPhase& open : phases_) {
    Phase& phase = phases.emplace_back();
    phase.name = names_[open.name];
    phase.begin_seconds = open.begin_seconds;
    phase.end_seconds = open.end_seconds;
    phase.kernel_peak_bytes =
        open.peak_bytes > open.peak_before ? open.peak_bytes : open.largest_resident;
    phase.fullest_seconds = open.fullest_seconds;
    phase.ledger_peak_bytes = open.ledger_peak_bytes;
    for (std::size_t index = 0; index < purposes_.size(); ++index) {
      const Amount& amount = open.held[index];
      if (amount.bytes == 0) continue;
      phase.held.push_back({names_[purposes_[index]], amount.bytes, amount.count});
    }
    std::ranges::sort(phase.held, std::ranges::greater{}, &Holding::bytes);
  }
  return phases;
}

}  // namespace plimsoll::memory
