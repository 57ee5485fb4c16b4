// What a command reports, as text and as JSON. Why it exists: one structure feeds both. May touch:
// the public API, nlohmann-json (report_json.cpp only). Fields: docs/schema/.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "plimsoll/engine.h"

namespace plimsoll::cli {

struct OutputReport {
  std::string name;
  ElementType type = ElementType::undefined;
  std::string shape_text;
  std::vector<std::int64_t> shape;
  std::string file;
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
};

struct Report {
  std::string command;
  std::string model;
  PlanReport plan;
  std::uint64_t kernel_peak_bytes = 0;
  std::uint64_t cgroup_peak_bytes = 0;
  double load_seconds = 0;
  std::vector<double> run_seconds;
  std::vector<OutputReport> outputs;
  std::vector<NodeProfile> profile;

  void merge(const RunReport& run);
  /// Writes the outputs that were asked for and notes the figures of all.
  void collect_outputs(const Session& session, const ModelInfo& info, const Options& options);
  /// Takes the kernel's figures; the last thing before reporting.
  void finish();
};

void bind_value(Session& session, const std::string& name, const InputValue& value);
void write_report(const Options& options, const Report& report);
void write_inspection(const Options& options, const ModelInfo& info, const KernelMemory& memory);
void write_pictures(const Options& options, const Engine& engine, const Report& report);
void print_plan(const Options& options, const Report& report);
void print_run(const Options& options, const Report& report);

}  // namespace plimsoll::cli
