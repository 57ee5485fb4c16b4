// Who reserved what when, beside the kernel's figure. Why it exists: a peak that nobody can explain
// cannot be brought down. May touch: probe.h. Bounded: at most `capacity` events (no fewer than
// 256) and 64 phases are kept and older neighbours are merged so that peaks survive; names are kept
// once each. Thread-safe; recording reads /proc at most once a millisecond and throws nothing: what
// cannot be recorded (no memory, no /proc) is left out, it never stops the work that is recorded.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::memory {

/// The kind of thing a purpose speaks of: what stands before its quoted name. "weight 'conv1.w'" →
/// "weight"; "activations of 'm'" → "activations".
[[nodiscard]] std::string_view purpose_kind(std::string_view purpose) noexcept;

class Timeline {
 public:
  enum class Kind : std::uint8_t { reserve, release, phase, sample };
  struct Event {
    double seconds = 0;  // since the timeline began
    Kind kind = Kind::sample;
    std::string budget;              // path; the phase's name for Kind::phase
    std::string purpose;             // its kind; empty for phases and samples
    std::int64_t delta_bytes = 0;    // + reserve, − release; summed over merged events
    std::uint64_t ledger_bytes = 0;  // the root's use after this event; the largest of merged ones
    std::uint64_t resident_bytes = 0;  // VmRSS at this event (read at most every millisecond)
    std::uint64_t peak_bytes = 0;      // VmHWM at this event
  };

  explicit Timeline(std::size_t capacity = 2048);
  /// `delta_count`: +1 for a new reservation, −1 for one that ends, 0 for one that changes its
  /// size.
  void record(Kind kind, std::string_view budget, std::string_view purpose,
              std::int64_t delta_bytes, std::uint64_t ledger_bytes, int delta_count) noexcept;
  /// Begins a named phase ("import", "encode", "run"); the one before ends.
  void begin_phase(std::string_view name) noexcept;
  /// A figure of the kernel without a ledger event, where the last is older than a millisecond.
  void sample() noexcept;
  /// The same in any case.
  void sample_now() noexcept;
  [[nodiscard]] std::vector<Event> events() const;

  /// Live reservations of one kind.
  struct Holding {
    std::string purpose;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;  ///< reservations alive
  };
  /// Kernel figures per phase: the peak is VmHWM where it rose during the phase, else the largest
  /// VmRSS sampled in it.
  struct Phase {
    std::string name;
    double begin_seconds = 0;
    double end_seconds = 0;
    std::uint64_t kernel_peak_bytes = 0;
    double fullest_seconds = 0;  ///< when the largest VmRSS was sampled
    std::uint64_t ledger_peak_bytes = 0;
    std::vector<Holding> held;  ///< at that moment, largest first
  };
  /// Of all phases until now; reads the kernel's figure once more first.
  [[nodiscard]] std::vector<Phase> phases();

 private:
  using Name = std::uint16_t;  // index into names_
  struct Entry {
    double seconds = 0;
    std::int64_t delta_bytes = 0;
    std::uint64_t ledger_bytes = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t peak_bytes = 0;
    Name budget = 0;
    Name purpose = 0;
    Kind kind = Kind::sample;
  };
  static constexpr std::size_t most_purposes = 48;
  static constexpr std::size_t most_names = 512;
  static constexpr std::size_t most_phases = 64;
  /// Room for all phases with something between them, so that merging always makes room.
  static constexpr std::size_t least_capacity = 4 * most_phases;
  struct Amount {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
  };
  using Amounts = std::array<Amount, most_purposes>;  // by position in purposes_
  struct OpenPhase {
    Name name = 0;
    double begin_seconds = 0;
    double end_seconds = 0;
    std::uint64_t peak_before = 0;  // VmHWM when it began
    std::uint64_t peak_bytes = 0;
    std::uint64_t largest_resident = 0;
    double fullest_seconds = 0;
    std::uint64_t ledger_peak_bytes = 0;
    Amounts held{};
  };

  // All below are called with the lock held.
  void add(Kind kind, Name budget, Name purpose, std::int64_t delta_bytes);
  void probe_if_older_than(double seconds) noexcept;
  void close_phase() noexcept;
  Name name_of(std::string_view text);
  std::size_t purpose_of(Name name);
  void merge_neighbours() noexcept;
  void merge_oldest_phases();

  mutable std::mutex mutex_;
  std::size_t capacity_;
  double origin_ = 0;
  std::vector<std::string> names_;
  std::vector<Name> purposes_;
  Amounts live_{};
  std::vector<Entry> entries_;
  std::vector<OpenPhase> phases_;
  double now_ = 0;  // of the event being recorded
  double last_probe_ = -1;
  std::uint64_t last_resident_ = 0;
  std::uint64_t last_peak_ = 0;
  std::uint64_t last_ledger_ = 0;
};

}  // namespace plimsoll::memory
