#include "cli/terminal/interrupt.h"

#include <atomic>
#include <csignal>

#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

// What a signal handler may touch: lock-free atomics. cancel() only stores to one.
std::atomic<const Engine*> engine_to_cancel{nullptr};
std::atomic<bool> interrupt_arrived{false};
static_assert(std::atomic<const Engine*>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int /*number*/) {
  interrupt_arrived.store(true);
  if (const Engine* engine = engine_to_cancel.load()) engine->cancel();
}

void handle(int number, bool first_is_ours) {
  struct sigaction action{};
  action.sa_handler = first_is_ours ? on_signal : SIG_DFL;
  // SA_RESETHAND: who presses twice means it.
  action.sa_flags = first_is_ours ? static_cast<int>(SA_RESETHAND) : 0;
  sigaction(number, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard(const Engine& engine) : engine_(engine) {
  engine_to_cancel.store(&engine_);
  handle(SIGINT, true);
  handle(SIGTERM, true);
}

InterruptGuard::~InterruptGuard() {
  handle(SIGINT, false);
  handle(SIGTERM, false);
  engine_to_cancel.store(nullptr);
}

bool interrupted() noexcept {
  return interrupt_arrived.load();
}

void throw_if_interrupted() {
  if (interrupted()) throw Error(ErrorKind::failure, "interrupted");
}

}  // namespace plimsoll::cli
