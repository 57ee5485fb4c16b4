#include "cli/report/report.h"

#include <algorithm>

namespace plimsoll::cli {

void Report::add_run(const RunReport& run) {
  if (!has_run) load_seconds = run.load_seconds;
  has_run = true;
  run_seconds.push_back(run.run_seconds);
  for (const PhaseReport& phase : run.phases) {
    const auto planned = std::ranges::find(plan.phases, phase.name, &PhaseReport::name);
    if (planned == plan.phases.end()) {
      plan.phases.push_back(phase);
      continue;
    }
    planned->kernel_peak_bytes = std::max(planned->kernel_peak_bytes, phase.kernel_peak_bytes);
    planned->seconds = phase.seconds;
  }
  if (!run.profile.empty()) profile = run.profile;
}

void Report::take_kernel_figures() {
  const KernelMemory memory = Engine::kernel_memory();
  kernel_peak_bytes = memory.peak_bytes;
  cgroup_peak_bytes = memory.cgroup_peak_bytes;
}

bool Report::over_limit() const {
  return plan.verdict != Verdict::does_not_fit && kernel_peak_bytes > plan.limit_bytes;
}

Spread spread_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  const std::size_t middle = seconds.size() / 2;
  const double median =
      seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return {median, seconds.front(), seconds.back()};
}

}  // namespace plimsoll::cli
