// A line that says how far things are. Why it exists: what takes long should show that it lives,
// and what does not should stay quiet. May touch: stderr.
#pragma once

#include <mutex>
#include <string_view>

#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// Writes to standard error, only when that is a terminal, only after a second, ten times a second
/// at most. Thread-safe.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// Empty when nothing would be shown anyway. Must not outlive this.
  [[nodiscard]] Progress callback();
  void show(std::string_view phase, double fraction);
  /// From here on it is the run `number` of `count`.
  void begin_run(int number, int count);
  /// Takes the line away, before other text is written.
  void clear();

 private:
  std::mutex mutex_;
  bool wanted_;
  bool shown_ = false;
  double begin_;
  double last_ = 0;
  int run_ = 1;
  int runs_ = 1;
};

}  // namespace plimsoll::cli
