#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

#include "wasm/wasi/calls.h"

namespace plimsoll::wasm::wasi {
namespace {

/// Each descriptor twice, or as many timers; what is kept for them stays small.
constexpr Length most_subscriptions = 1024;
constexpr std::uint64_t nanoseconds_in_second = 1'000'000'000;
constexpr std::uint64_t never = UINT64_MAX;
constexpr std::uint16_t hung_up = 1;

enum class Tag : std::uint8_t { clock = 0, read = 1, write = 2 };

std::uint64_t now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * nanoseconds_in_second +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// One subscription, copied: events may be written over the subscriptions.
struct Waiting {
  std::uint64_t user_data = 0;
  Tag tag = Tag::clock;
  Errno error = Errno::success;
  std::uint64_t deadline = never;  ///< on the monotonic clock
  std::size_t polled = SIZE_MAX;   ///< index among the polled descriptors
};

class Poll {
 public:
  explicit Poll(State& state) : state_(state) {}

  [[nodiscard]] Errno subscribe(std::span<const std::byte> subscription) {
    Waiting waiting;
    waiting.user_data = load<std::uint64_t>(subscription, 0);
    const auto tag = load<std::uint8_t>(subscription, 8);
    if (tag > static_cast<std::uint8_t>(Tag::write)) return Errno::invalid;
    waiting.tag = static_cast<Tag>(tag);
    if (waiting.tag == Tag::clock) {
      set_clock(waiting, subscription);
    } else {
      set_descriptor(waiting, load<std::uint32_t>(subscription, 16));
    }
    if (waiting.error != Errno::success) earliest_ = 0;
    earliest_ = std::min(earliest_, waiting.deadline);
    waiting_.push_back(waiting);
    return Errno::success;
  }

  /// Until a descriptor is ready or a deadline is reached.
  [[nodiscard]] Errno wait() {
    while (true) {
      const std::uint64_t time = now(CLOCK_MONOTONIC);
      const std::uint64_t left = earliest_ > time ? earliest_ - time : 0;
      const timespec timeout{.tv_sec = static_cast<time_t>(left / nanoseconds_in_second),
                             .tv_nsec = static_cast<long>(left % nanoseconds_in_second)};
      const int ready =
          ::ppoll(polled_.data(), polled_.size(), earliest_ == never ? nullptr : &timeout, nullptr);
      if (ready < 0 && errno != EINTR) return errno_of(errno);
      if (ready > 0 || (ready == 0 && now(CLOCK_MONOTONIC) >= earliest_)) return Errno::success;
    }
  }

  /// Writes an event for each that is ready; returns how many.
  [[nodiscard]] std::uint32_t report(std::span<std::byte> events) const {
    const std::uint64_t time = now(CLOCK_MONOTONIC);
    std::uint32_t count = 0;
    for (const Waiting& waiting : waiting_) {
      if (!is_ready(waiting, time)) continue;
      const auto event = events.subspan(count++ * event_bytes, event_bytes);
      std::memset(event.data(), 0, event.size());
      store(event, 0, waiting.user_data);
      store(event, 8, static_cast<std::uint16_t>(error_of(waiting)));
      store(event, 10, static_cast<std::uint8_t>(waiting.tag));
      if (waiting.polled == SIZE_MAX) continue;
      const pollfd& polled = polled_[waiting.polled];
      int bytes = 0;
      if (waiting.tag == Tag::read) (void)::ioctl(polled.fd, FIONREAD, &bytes);
      store(event, 16, static_cast<std::uint64_t>(std::max(bytes, 0)));
      if ((polled.revents & POLLHUP) != 0) store(event, 24, hung_up);
    }
    return count;
  }

 private:
  static void set_clock(Waiting& waiting, std::span<const std::byte> subscription) {
    const auto clock = load<std::uint32_t>(subscription, 16);
    const auto timeout = load<std::uint64_t>(subscription, 24);
    const auto flags = load<std::uint16_t>(subscription, 40);
    if (clock > 3 || flags > 1) {
      waiting.error = Errno::invalid;
      return;
    }
    if (clock > 1) {  // the time that a process or thread has used: nobody wakes then
      waiting.error = Errno::not_supported;
      return;
    }
    const bool is_absolute = flags == 1;
    const std::uint64_t time = now(CLOCK_MONOTONIC);
    std::uint64_t left = timeout;
    if (is_absolute) {
      const std::uint64_t reached = clock == 0 ? now(CLOCK_REALTIME) : time;
      left = timeout > reached ? timeout - reached : 0;
    }
    waiting.deadline = left >= never - time ? never : time + left;
  }

  void set_descriptor(Waiting& waiting, std::uint32_t number) {
    const bool is_read = waiting.tag == Tag::read;
    const auto found =
        state_.descriptors.find(number, rights::poll | (is_read ? rights::read : rights::write));
    if (!found) {
      waiting.error = found.error();
      return;
    }
    waiting.polled = polled_.size();
    polled_.push_back({.fd = (*found)->file.number(),
                       .events = static_cast<std::int16_t>(is_read ? POLLIN : POLLOUT),
                       .revents = 0});
  }

  [[nodiscard]] bool is_ready(const Waiting& waiting, std::uint64_t time) const {
    if (waiting.error != Errno::success) return true;
    if (waiting.tag == Tag::clock) return waiting.deadline <= time;
    return polled_[waiting.polled].revents != 0;
  }

  [[nodiscard]] Errno error_of(const Waiting& waiting) const {
    if (waiting.polled == SIZE_MAX) return waiting.error;
    const auto found = polled_[waiting.polled].revents;
    if ((found & POLLNVAL) != 0) return Errno::bad_descriptor;
    // A stream whose reader is gone; one whose writer is gone is read to its end.
    return (found & POLLERR) != 0 ? Errno::pipe : Errno::success;
  }

  State& state_;
  std::vector<Waiting> waiting_;
  std::vector<pollfd> polled_;
  std::uint64_t earliest_ = never;
};

}  // namespace

Errno poll_oneoff(State& state, Address subscriptions, Address events, Length count,
                  Address result) {
  if (count == 0 || count > most_subscriptions) return Errno::invalid;
  const GuestView view = state.view();
  const auto from = view.bytes(subscriptions, std::uint64_t{count} * subscription_bytes);
  const auto into = view.bytes(events, std::uint64_t{count} * event_bytes);
  if (!from || !into || !view.bytes(result, sizeof(std::uint32_t))) return Errno::fault;
  Poll poll(state);
  for (Length index = 0; index < count; ++index) {
    const Errno error =
        poll.subscribe(from->subspan(index * subscription_bytes, subscription_bytes));
    if (error != Errno::success) return error;
  }
  if (const Errno error = poll.wait(); error != Errno::success) return error;
  return view.write(result, poll.report(*into)) ? Errno::success : Errno::fault;
}

}  // namespace plimsoll::wasm::wasi
