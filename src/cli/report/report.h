// What a command found out. Why it exists: one structure feeds the text, the JSON and the exit
// code. May touch: the public API. Fields of the JSON: docs/schemas/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/report/statistics.h"
#include "plimsoll/engine.h"

namespace plimsoll::cli {

struct OutputReport {
  std::string name;  ///< of a sequence's items: "name[0]"
  ElementType type = ElementType::undefined;
  Shape shape;
  std::string file;  ///< empty: not written
  Statistics statistics;
};

struct Report {
  std::string model;
  PlanReport plan;
  std::uint64_t kernel_peak_bytes = 0;
  std::uint64_t cgroup_peak_bytes = 0;
  double load_seconds = 0;
  std::vector<double> run_seconds;
  std::vector<OutputReport> outputs;
  std::vector<NodeProfile> profile;
  bool has_run = false;

  /// Takes over times and the kernel's figures of a run.
  void add_run(const RunReport& run);
  /// Takes the kernel's figures as they are now.
  void take_kernel_figures();
  /// The kernel saw more than a limit under which we said it would fit.
  [[nodiscard]] bool over_limit() const;
};

/// Median and extremes of a list that is not empty.
struct Spread {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
};
[[nodiscard]] Spread spread_of(std::vector<double> seconds);

/// JSON, pretty-printed, with a newline at its end.
[[nodiscard]] std::string report_json(Command command, const Report& report);
[[nodiscard]] std::string inspection_json(const ModelInfo& info, const KernelMemory& memory);
/// The Chrome trace form, which chrome://tracing and Perfetto show.
[[nodiscard]] std::string profile_json(const Report& report);

/// Text for people.
[[nodiscard]] std::string plan_text(const Report& report);
[[nodiscard]] std::string run_text(const Report& report);
[[nodiscard]] std::string inspection_text(const ModelInfo& info);

}  // namespace plimsoll::cli
