#include "cli/commands/wasm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <expected>

#include "cli/commands/wasm_report.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "memory/budget.h"
#include "memory/heap.h"
#include "memory/probe.h"
#include "plimsoll/limit.h"
#include "wasm/binary/mapped_file.h"
#include "wasm/binary/name_section.h"
#include "wasm/binary/summary.h"
#include "wasm/binary/validate.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t largest_shown = 10;

std::uint64_t limit_of(const WasmOptions& options) {
  if (!options.memory_limit.empty()) return parse_limit(options.memory_limit);
  return memory::default_limit(memory::probe_cgroup(), memory::probe_machine()).bytes;
}

/// Names for the largest bodies: from the name section, or else the export.
void name_largest(WasmReport& report, std::span<const std::byte> file) {
  const wasm::Module& module = *report.module;
  const std::vector<std::uint32_t> largest = wasm::largest_bodies(module, largest_shown);
  for (const std::uint32_t function : largest) {
    report.largest.emplace_back(function, wasm::export_name_of(module, function));
  }
  for (const wasm::CustomSection& section : module.custom_sections) {
    if (module.name(section.name) != "name") continue;
    const auto names =
        wasm::function_names(file.subspan(section.bytes.offset, section.bytes.size), largest);
    for (const auto& [function, name] : names) {
      for (auto& [shown, label] : report.largest) {
        if (shown == function) label = name;
      }
    }
  }
}

/// Decodes and validates; what everything took is in the report.
std::expected<WasmReport, Refusal> examine(const WasmOptions& options, bool with_names) {
  const auto features = wasm::FeatureSet::parse(options.features);
  memory::configure_heap();
  WasmReport report;
  report.file = options.file;
  report.limit_bytes = limit_of(options);
  report.base_bytes = memory::probe_process().resident_bytes;
  const auto budget = memory::Budget::root(
      "process", report.limit_bytes - std::min(report.base_bytes, report.limit_bytes));
  auto heap = memory::HeapEntry::open(*budget);
  if (!heap) return std::unexpected(std::move(heap.error()));
  const auto begin = std::chrono::steady_clock::now();
  auto file = wasm::MappedFile::open(*budget, options.file);
  if (!file) return std::unexpected(std::move(file.error()));
  auto module = wasm::validate_module(budget, features, *file);
  if (!module) return std::unexpected(std::move(module.error()));
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.module = std::move(*module);
  report.description_bytes = report.module->claimed_bytes();
  if (with_names) name_largest(report, file->bytes());
  report.ledger_peak_bytes = budget->peak_used();
  report.kernel_peak_bytes = memory::probe_process().peak_resident_bytes;
  return report;
}

void write(const WasmOptions& options, const std::string& text, const std::string& json) {
  if (!options.json.empty()) {
    OutputFile file(options.json);
    file.write(json);
    file.close();
  }
  if (options.json != "-" && !options.quiet) {
    OutputFile out("-");
    out.write(text);
    out.close();
  }
}

int refuse(const Refusal& refusal) {
  fmt::print(stderr, "plimsoll: {}\n", refusal.to_string());
  return exit_code::does_not_fit;
}

int finish(const WasmReport& report) {
  if (report.kernel_peak_bytes <= report.limit_bytes) return exit_code::done;
  fmt::print(stderr, "plimsoll: the kernel saw {} at the peak, more than the limit of {}\n",
             format_bytes(report.kernel_peak_bytes), format_bytes(report.limit_bytes));
  return exit_code::over_limit;
}

}  // namespace

int wasm_inspect(const WasmOptions& options) {
  if (!options.json.empty() && options.json != "-") require_writable(options.json);
  const auto report = examine(options, true);
  if (!report) return refuse(report.error());
  write(options, wasm_inspection_text(*report), wasm_inspection_json(*report));
  return finish(*report);
}

int wasm_validate(const WasmOptions& options) {
  if (!options.json.empty() && options.json != "-") require_writable(options.json);
  const auto report = examine(options, false);
  if (!report) return refuse(report.error());
  write(options, wasm_validation_text(*report), wasm_validation_json(*report));
  return finish(*report);
}

int wasm(int argc, char** argv) {
  const WasmParsed parsed = parse_wasm_options(argc, argv);
  if (parsed.exit_code >= 0) return parsed.exit_code;
  try {
    switch (parsed.options.command) {
      case WasmCommand::inspect:
        return wasm_inspect(parsed.options);
      case WasmCommand::validate:
        return wasm_validate(parsed.options);
      case WasmCommand::compile:
        return wasm_compile(parsed.options);
      case WasmCommand::run:
        return wasm_run(parsed.options);
      case WasmCommand::wast:
        return wasm_wast(parsed.options);
    }
    return exit_code::usage;
  } catch (Error& error) {
    if (error.kind() != ErrorKind::usage && !error.message().contains(parsed.options.file)) {
      error.add_context(parsed.options.file);
    }
    throw;
  }
}

}  // namespace plimsoll::cli
