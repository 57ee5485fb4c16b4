// Who reserved what when, beside the kernel's figure. Why it exists: a peak that nobody can explain
// cannot be brought down. May touch: probe.h. Bounded: at most `capacity` events are kept, older
// neighbours are merged so that peaks survive.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::memory {

class Timeline {
 public:
  enum class Kind : std::uint8_t { reserve, release, phase, sample };
  struct Event {
    double seconds = 0;  // since the timeline began
    Kind kind = Kind::sample;
    std::string budget;  // path; the phase's name for Kind::phase
    std::string purpose;
    std::int64_t delta_bytes = 0;      // + reserve, − release
    std::uint64_t ledger_bytes = 0;    // the root's use after this event
    std::uint64_t resident_bytes = 0;  // VmRSS at this event (sampled at most every millisecond)
    std::uint64_t peak_bytes = 0;      // VmHWM at this event
  };

  explicit Timeline(std::size_t capacity = 4096);
  void record(Kind kind, std::string_view budget, std::string_view purpose,
              std::int64_t delta_bytes, std::uint64_t ledger_bytes);
  /// Begins a named phase ("import", "encode", "run").
  void begin_phase(std::string_view name);
  /// A figure of the kernel without a ledger event.
  void sample();
  [[nodiscard]] std::vector<Event> events() const;

  /// Kernel figures per phase: the peak is VmHWM where it rose during the phase, else the largest
  /// VmRSS sampled in it.
  struct Phase {
    std::string name;
    double begin_seconds = 0;
    double end_seconds = 0;
    std::uint64_t kernel_peak_bytes = 0;
  };
  [[nodiscard]] std::vector<Phase> phases() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  std::size_t capacity_;
  double origin_ = 0;
  double last_probe_ = -1;
  std::uint64_t last_resident_ = 0;
  std::uint64_t last_peak_ = 0;
  std::uint64_t last_ledger_ = 0;
};

}  // namespace plimsoll::memory
