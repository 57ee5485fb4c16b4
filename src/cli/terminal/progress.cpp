#include "cli/terminal/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace plimsoll::cli {
namespace {

constexpr double quiet_seconds = 1.0;
constexpr double interval_seconds = 0.1;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ProgressLine::ProgressLine(bool wanted)
    : wanted_(wanted && isatty(STDERR_FILENO) == 1), begin_(now_seconds()) {}

Progress ProgressLine::callback() {
  if (!wanted_) return {};
  return [this](std::string_view phase, double fraction) { show(phase, fraction); };
}

void ProgressLine::show(std::string_view phase, double fraction) {
  if (!wanted_) return;
  const std::scoped_lock lock(mutex_);
  const double now = now_seconds();
  if (now - begin_ < quiet_seconds || now - last_ < interval_seconds) return;
  last_ = now;
  shown_ = true;
  // \r: to the line's beginning; \033[K: clear to its end.
  if (runs_ > 1 && phase == "run") {
    fmt::print(stderr, "\rrun {} of {}\033[K", run_, runs_);
  } else {
    fmt::print(stderr, "\r{} {:3.0f} %\033[K", phase, fraction * 100);
  }
  std::fflush(stderr);
}

void ProgressLine::begin_run(int number, int count) {
  const std::scoped_lock lock(mutex_);
  run_ = number;
  runs_ = count;
}

void ProgressLine::clear() {
  const std::scoped_lock lock(mutex_);
  if (!shown_) return;
  shown_ = false;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

}  // namespace plimsoll::cli
