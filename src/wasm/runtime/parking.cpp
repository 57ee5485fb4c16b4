#include "wasm/runtime/parking.h"

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

namespace plimsoll::wasm {
namespace {

struct Waiter {
  const void* address = nullptr;
  bool is_woken = false;
  std::condition_variable condition;
};

constinit std::mutex mutex;

/// In the order of waiting; under the mutex. Made when first needed.
std::list<Waiter*>& list() {
  static std::list<Waiter*> all;
  return all;
}

}  // namespace

WaitResult wait_at(const void* address, const std::function<bool()>& is_equal,
                   std::int64_t nanoseconds) {
  std::unique_lock lock(mutex);
  if (!is_equal()) return WaitResult::not_equal;
  Waiter waiter;
  waiter.address = address;
  list().push_back(&waiter);
  const auto woken = [&] { return waiter.is_woken; };
  // Longer than anybody waits, and short enough to be added to a clock.
  constexpr std::int64_t longest = std::int64_t{1} << 60U;
  if (nanoseconds < 0 || nanoseconds > longest) {
    waiter.condition.wait(lock, woken);
  } else {
    waiter.condition.wait_for(lock, std::chrono::nanoseconds(nanoseconds), woken);
  }
  if (!waiter.is_woken) list().remove(&waiter);
  return waiter.is_woken ? WaitResult::woken : WaitResult::timed_out;
}

std::uint32_t notify_at(const void* address, std::uint32_t count) {
  const std::scoped_lock lock(mutex);
  std::uint32_t woken = 0;
  for (auto place = list().begin(); place != list().end() && woken < count;) {
    if ((*place)->address != address) {
      ++place;
      continue;
    }
    (*place)->is_woken = true;
    (*place)->condition.notify_one();
    place = list().erase(place);
    ++woken;
  }
  return woken;
}

}  // namespace plimsoll::wasm
