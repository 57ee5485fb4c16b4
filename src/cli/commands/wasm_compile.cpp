// `plimsoll wasm compile FILE`: what compiling a module takes. Includes nlohmann-json, like
// cli/report/report_json.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <expected>
#include <nlohmann/json.hpp>

#include "cli/commands/wasm.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "memory/heap.h"
#include "memory/probe.h"
#include "plimsoll/limit.h"
#include "wasm/binary/mapped_file.h"
#include "wasm/binary/summary.h"
#include "wasm/runtime/code_module.h"

namespace plimsoll::cli {
namespace {

struct CompileReport {
  std::string file;
  std::shared_ptr<const wasm::CodeModule> code;
  double seconds = 0;
  std::uint64_t base_bytes = 0;
  std::uint64_t kernel_peak_bytes = 0;
  std::uint64_t limit_bytes = 0;
};

std::expected<CompileReport, Refusal> compile(const WasmOptions& options) {
  wasm::EngineSettings settings;
  settings.features = wasm::FeatureSet::parse(options.features);
  settings.compile.explicit_bounds = options.explicit_bounds;
  memory::configure_heap();
  CompileReport report;
  report.file = options.file;
  report.limit_bytes =
      options.memory_limit.empty()
          ? memory::default_limit(memory::probe_cgroup(), memory::probe_machine()).bytes
          : parse_limit(options.memory_limit);
  report.base_bytes = memory::probe_process().resident_bytes;
  const auto budget = memory::Budget::root(
      "process", report.limit_bytes - std::min(report.base_bytes, report.limit_bytes));
  auto heap = memory::HeapEntry::open(*budget);
  if (!heap) return std::unexpected(std::move(heap.error()));
  const auto begin = std::chrono::steady_clock::now();
  auto engine = wasm::Engine::create(budget, settings);
  if (!engine) return std::unexpected(std::move(engine.error()));
  auto file = wasm::MappedFile::open(*budget, options.file);
  if (!file) return std::unexpected(std::move(file.error()));
  auto code = wasm::CodeModule::compile(*engine, *file);
  if (!code) return std::unexpected(std::move(code.error()));
  report.code = std::move(*code);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.kernel_peak_bytes = memory::probe_process().peak_resident_bytes;
  return report;
}

std::string json_of(const CompileReport& report) {
  const wasm::BodySizes sizes = wasm::body_sizes(report.code->module());
  const nlohmann::ordered_json json = {{"file", report.file},
                                       {"functions", sizes.total_count},
                                       {"compiled_functions", sizes.total_count},
                                       {"body_bytes", sizes.total_bytes},
                                       {"code_bytes", report.code->code_bytes()},
                                       {"metadata_bytes", report.code->metadata_bytes()},
                                       {"seconds", report.seconds},
                                       {"base_bytes", report.base_bytes},
                                       {"kernel_peak_bytes", report.kernel_peak_bytes},
                                       {"limit_bytes", report.limit_bytes},
                                       {"verdict", "fits"},
                                       {"tiers", {{"baseline", sizes.total_count}}}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string text_of(const CompileReport& report) {
  const wasm::BodySizes sizes = wasm::body_sizes(report.code->module());
  return fmt::format(
      "{}: {} functions compiled; {} of bodies became {} of code, and {} of tables\n"
      "{:.1f} ms, kernel peak {} ({} before it began)\n",
      report.file, sizes.total_count, format_bytes(sizes.total_bytes),
      format_bytes(report.code->code_bytes()), format_bytes(report.code->metadata_bytes()),
      report.seconds * 1e3, format_bytes(report.kernel_peak_bytes),
      format_bytes(report.base_bytes));
}

}  // namespace

int wasm_compile(const WasmOptions& options) {
  if (!options.json.empty() && options.json != "-") require_writable(options.json);
  const auto report = compile(options);
  if (!report) {
    fmt::print(stderr, "plimsoll: {}\n", report.error().to_string());
    return exit_code::does_not_fit;
  }
  if (!options.json.empty()) {
    OutputFile file(options.json);
    file.write(json_of(*report));
    file.close();
  }
  if (options.json != "-" && !options.quiet) fmt::print("{}", text_of(*report));
  if (report->kernel_peak_bytes <= report->limit_bytes) return exit_code::done;
  fmt::print(stderr, "plimsoll: the kernel saw {} at the peak, more than the limit of {}\n",
             format_bytes(report->kernel_peak_bytes), format_bytes(report->limit_bytes));
  return exit_code::over_limit;
}

}  // namespace plimsoll::cli
