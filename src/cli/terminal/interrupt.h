// Ctrl-C. Why it exists: a run must end cleanly: no half-written output, the terminal as it was.
// May touch: the public API, signals.
#pragma once

#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// While it exists, SIGINT and SIGTERM cancel the engine's sessions at their next step. A second
/// one ends the process at once. One at a time.
class InterruptGuard {
 public:
  explicit InterruptGuard(const Engine& engine);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

 private:
  Engine engine_;
};

/// Whether one arrived since the program began.
[[nodiscard]] bool interrupted() noexcept;
/// Throws Error(failure) if so.
void throw_if_interrupted();

}  // namespace plimsoll::cli
