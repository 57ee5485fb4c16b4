#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "cli/values/npy.h"
#include "plimsoll/limit.h"
#include "plimsoll/values.h"

namespace plimsoll::cli {
namespace {

double element(const ConstTensorView& tensor, std::int64_t index) {
  switch (tensor.type) {
    case ElementType::f32:
      return static_cast<double>(tensor.as<float>()[index]);
    case ElementType::f64:
      return tensor.as<double>()[index];
    case ElementType::f16:
    case ElementType::bf16:
      return static_cast<double>(half_value(tensor.type, tensor.as<std::uint16_t>()[index]));
    case ElementType::i64:
      return static_cast<double>(tensor.as<std::int64_t>()[index]);
    case ElementType::u64:
      return static_cast<double>(tensor.as<std::uint64_t>()[index]);
    case ElementType::i32:
      return tensor.as<std::int32_t>()[index];
    case ElementType::u32:
      return tensor.as<std::uint32_t>()[index];
    case ElementType::i16:
      return tensor.as<std::int16_t>()[index];
    case ElementType::u16:
      return tensor.as<std::uint16_t>()[index];
    case ElementType::i8:
      return tensor.as<std::int8_t>()[index];
    default:
      return tensor.as<std::uint8_t>()[index];
  }
}

OutputReport describe(const std::string& name, const ConstTensorView& tensor) {
  OutputReport report;
  report.name = name;
  report.type = tensor.type;
  report.shape_text = tensor.shape.to_string();
  const auto dimensions = tensor.shape.dimensions();
  report.shape.assign(dimensions.begin(), dimensions.end());
  const std::int64_t count = tensor.elements();
  if (count == 0) return report;
  report.minimum = std::numeric_limits<double>::infinity();
  report.maximum = -report.minimum;
  double sum = 0;
  for (std::int64_t index = 0; index < count; ++index) {
    const double value = element(tensor, index);
    report.minimum = std::min(report.minimum, value);
    report.maximum = std::max(report.maximum, value);
    sum += value;
  }
  report.mean = sum / static_cast<double>(count);
  return report;
}

}  // namespace

void Report::merge(const RunReport& run) {
  for (const PhaseReport& phase : run.phases) {
    for (PhaseReport& planned : plan.phases) {
      if (planned.name != phase.name) continue;
      planned.kernel_peak_bytes = std::max(planned.kernel_peak_bytes, phase.kernel_peak_bytes);
      planned.seconds = phase.seconds;
    }
  }
  if (!run.profile.empty()) profile = run.profile;
}

void Report::collect_outputs(const Session& session, const ModelInfo& info,
                             const Options& options) {
  std::vector<std::string> files(info.outputs.size());
  std::size_t next = 0;
  for (const std::string& text : options.outputs) {
    bool placed = false;
    for (std::size_t index = 0; index < info.outputs.size(); ++index) {
      const std::string prefix = info.outputs[index].name + "=";
      if (!text.starts_with(prefix)) continue;
      files[index] = text.substr(prefix.size());
      placed = true;
    }
    if (placed) continue;
    while (next < files.size() && !files[next].empty()) ++next;
    if (next == files.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("--output '{}': the model has only {} outputs", text, files.size()));
    }
    files[next] = text;
  }
  for (std::size_t index = 0; index < info.outputs.size(); ++index) {
    const std::string& name = info.outputs[index].name;
    if (session.output_is_sequence(name)) {
      const std::vector<ConstTensorView> items = session.output_sequence(name);
      for (std::size_t item = 0; item < items.size(); ++item) {
        OutputReport& output =
            outputs.emplace_back(describe(fmt::format("{}[{}]", name, item), items[item]));
        if (files[index].empty()) continue;
        std::string file = files[index];
        const std::size_t dot = file.rfind(".npy");
        file.insert(dot == std::string::npos ? file.size() : dot, fmt::format(".{}", item));
        write_npy(file, items[item]);
        output.file = file;
      }
      continue;
    }
    OutputReport& output = outputs.emplace_back(describe(name, session.output(name)));
    if (files[index].empty()) continue;
    write_npy(files[index], session.output(name));
    output.file = files[index];
  }
}

void Report::finish() {
  const KernelMemory memory = Engine::kernel_memory();
  kernel_peak_bytes = memory.peak_bytes;
  cgroup_peak_bytes = memory.cgroup_peak_bytes;
}

void print_plan(const Options& options, const Report& report) {
  if (options.quiet) return;
  const PlanReport& plan = report.plan;
  std::FILE* out = options.json == "-" ? stderr : stdout;
  fmt::print(out, "plan: {}", verdict_name(plan.verdict));
  if (!plan.stage.empty()) fmt::print(out, " ({})", plan.stage);
  fmt::print(out, "\n  limit            {:>12}  ({})\n", format_bytes(plan.limit_bytes),
             plan.limit_source);
  fmt::print(out, "  predicted peak   {:>12}\n", format_bytes(plan.predicted_peak_bytes));
  fmt::print(out, "  smallest limit   {:>12}  ({} bytes)\n",
             format_bytes(plan.smallest_workable_limit_bytes), plan.smallest_workable_limit_bytes);
  fmt::print(out, "  weights          {:>12}\n", format_bytes(plan.weights_encoded_bytes));
  fmt::print(out, "  activations      {:>12}\n", format_bytes(plan.activation_bytes));
  for (const PhaseReport& phase : plan.phases) {
    fmt::print(out, "  phase {:<10} {:>12}\n", phase.name,
               format_bytes(phase.predicted_peak_bytes));
  }
  for (const std::string& measure : plan.measures) fmt::print(out, "  measure: {}\n", measure);
}

void print_run(const Options& options, const Report& report) {
  if (options.quiet) return;
  std::FILE* out = options.json == "-" ? stderr : stdout;
  for (const OutputReport& output : report.outputs) {
    fmt::print(out, "output {} {} {}: min {:.6g}, max {:.6g}, mean {:.6g}{}{}\n", output.name,
               element_name(output.type), output.shape_text, output.minimum, output.maximum,
               output.mean, output.file.empty() ? "" : " → ", output.file);
  }
  std::vector<double> sorted = report.run_seconds;
  std::ranges::sort(sorted);
  fmt::print(out, "time: load {:.1f} ms, run {:.1f} ms", report.load_seconds * 1e3,
             sorted[sorted.size() / 2] * 1e3);
  if (sorted.size() > 1) {
    fmt::print(out, " (median of {}; {:.1f} to {:.1f})", sorted.size(), sorted.front() * 1e3,
               sorted.back() * 1e3);
  }
  fmt::print(out, "\npeak: predicted {}, kernel {} of {} allowed\n",
             format_bytes(report.plan.predicted_peak_bytes), format_bytes(report.kernel_peak_bytes),
             format_bytes(report.plan.limit_bytes));
}

}  // namespace plimsoll::cli
