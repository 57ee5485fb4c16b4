#include <fmt/format.h>

#include <algorithm>

#include "cli/inputs/assignment.h"
#include "cli/report/report.h"
#include "plimsoll/limit.h"

namespace plimsoll::cli {
namespace {

/// A line of "label       text".
void line(std::string& out, std::string_view label, std::string_view text) {
  out += fmt::format("{:<12}{}", label, text);
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

std::string verdict_sentence(const PlanReport& plan) {
  switch (plan.verdict) {
    case Verdict::fits:
      return "fits";
    case Verdict::fits_with_measures:
      return "fits, with these measures";
    case Verdict::fits_so_far:
      return fmt::format("fits so far; what follows depends on data: {}", plan.stage);
    case Verdict::does_not_fit:
      return plan.stage.empty() ? "does not fit" : fmt::format("does not fit: {}", plan.stage);
  }
  return "?";
}

std::string limit_origin(const std::string& source) {
  if (source == "option") return "--memory-limit";
  if (source == "cgroup") return "0.8 × what the cgroup has left";
  return "0.8 × what the machine has available";
}

std::string statistics_text(const Statistics& statistics) {
  std::string text;
  if (!statistics.first.empty()) {
    for (const double value : statistics.first) {
      text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", value);
    }
    return text;
  }
  text = fmt::format("{:.6g} to {:.6g}, mean {:.6g}", statistics.minimum, statistics.maximum,
                     statistics.mean);
  if (statistics.not_numbers != 0)
    text += fmt::format(", {} are no numbers", statistics.not_numbers);
  return text;
}

std::string milliseconds(double seconds) {
  return fmt::format("{:.1f} ms", seconds * 1e3);
}

void append_phases(std::string& out, const Report& report) {
  line(out, "phase",
       fmt::format("{:>12}{:>12}{:>12}", "predicted", report.has_run ? "kernel" : "",
                   report.has_run ? "time" : ""));
  for (const PhaseReport& phase : report.plan.phases) {
    line(out, "  " + phase.name,
         fmt::format("{:>12}{:>12}{:>12}", format_bytes(phase.predicted_peak_bytes),
                     report.has_run ? format_bytes(phase.kernel_peak_bytes) : "",
                     report.has_run ? milliseconds(phase.seconds) : ""));
  }
}

}  // namespace

std::string plan_text(const Report& report) {
  const PlanReport& plan = report.plan;
  std::string out;
  line(out, "plan", verdict_sentence(plan));
  for (const std::string& measure : plan.measures) line(out, "  measure", measure);
  line(out, "limit",
       fmt::format("{} ({} bytes, {})", format_bytes(plan.limit_bytes), plan.limit_bytes,
                   limit_origin(plan.limit_source)));
  line(out, "smallest",
       plan.smallest_workable_limit_bytes == 0
           ? "unknown"
           : fmt::format("{} ({} bytes) is the smallest limit that works",
                         format_bytes(plan.smallest_workable_limit_bytes),
                         plan.smallest_workable_limit_bytes));
  line(
      out, "predicted",
      fmt::format("{}: at most; weights {}, activations {}, the program at start {}",
                  format_bytes(plan.predicted_peak_bytes), format_bytes(plan.weights_encoded_bytes),
                  format_bytes(plan.activation_bytes), format_bytes(plan.base_bytes)));
  line(out, "target",
       fmt::format("{}, {} {}", plan.target, plan.threads,
                   plan.threads == 1 ? "thread" : "threads"));
  if (!report.has_run) append_phases(out, report);
  return out;
}

std::string run_text(const Report& report) {
  std::string out;
  for (const OutputReport& output : report.outputs) {
    line(out, "output",
         fmt::format("{}  {} {}  {}{}{}", output.name, element_name(output.type),
                     output.shape.to_string(), statistics_text(output.statistics),
                     output.file.empty() ? "" : "  → ", output.file));
  }
  append_phases(out, report);
  if (!report.run_seconds.empty()) {
    const Spread spread = spread_of(report.run_seconds);
    std::string text = fmt::format("load {}, run {}", milliseconds(report.load_seconds),
                                   milliseconds(spread.median));
    if (report.run_seconds.size() > 1) {
      text += fmt::format(" (median of {}; from {} to {})", report.run_seconds.size(),
                          milliseconds(spread.minimum), milliseconds(spread.maximum));
    }
    line(out, "time", text);
  }
  line(out, "peak",
       fmt::format("{} seen by the kernel, {} predicted, {} allowed",
                   format_bytes(report.kernel_peak_bytes),
                   format_bytes(report.plan.predicted_peak_bytes),
                   format_bytes(report.plan.limit_bytes)));
  return out;
}

std::string inspection_text(const ModelInfo& info) {
  std::string out;
  line(out, "model",
       fmt::format("{} (IR version {}, by {})", info.path, info.ir_version,
                   info.producer.empty() ? "unknown" : info.producer));
  std::string opsets;
  for (const auto& [domain, version] : info.opsets) {
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ",
                          domain.empty() ? "ai.onnx" : domain, version);
  }
  line(out, "opsets", opsets);
  for (const ValueInfo& value : info.inputs) {
    line(out, "input", fmt::format("{}  {}", value.name, declared_text(value)));
  }
  for (const ValueInfo& value : info.outputs) {
    line(out, "output", fmt::format("{}  {}", value.name, declared_text(value)));
  }
  std::string operators;
  for (const auto& [name, count] : info.operators) {
    operators += fmt::format("{}{} × {}", operators.empty() ? "" : ", ", count, name);
  }
  line(out, "operators", operators);
  std::uint64_t bytes = 0;
  for (const WeightInfo& weight : info.weights) bytes += weight.source_bytes;
  line(out, "weights",
       fmt::format("{} in {} tensors{}", format_bytes(bytes), info.weights.size(),
                   info.weights.empty() ? "" : "; the largest:"));
  std::vector<const WeightInfo*> largest;
  for (const WeightInfo& weight : info.weights) largest.push_back(&weight);
  const std::size_t shown = std::min<std::size_t>(5, largest.size());
  std::ranges::partial_sort(largest, largest.begin() + static_cast<std::ptrdiff_t>(shown),
                            std::ranges::greater{}, &WeightInfo::source_bytes);
  for (std::size_t index = 0; index < shown; ++index) {
    const WeightInfo& weight = *largest[index];
    line(out, "",
         fmt::format("{}  {} {}  {}", weight.name, element_name(weight.element),
                     weight.shape.to_string(), format_bytes(weight.source_bytes)));
  }
  for (const std::string& name : info.unsupported) {
    line(out, "", fmt::format("operator {} is not supported by this build", name));
  }
  return out;
}

}  // namespace plimsoll::cli
