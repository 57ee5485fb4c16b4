// `plimsoll wasm wast FILE.json...`: the specification's scripts.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/commands/wasm.h"
#include "cli/commands/wasm_wast_script.h"
#include "cli/exit_code.h"
#include "memory/probe.h"
#include "plimsoll/limit.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t most_failures_shown = 50;

void print_totals(const WastTotals& totals) {
  for (const std::string& failure : totals.failures) {
    if (&failure - totals.failures.data() == most_failures_shown) {
      fmt::print("… and {} more\n", totals.failures.size() - most_failures_shown);
      break;
    }
    fmt::print("FAILED {}\n", failure);
  }
  int skipped = 0;
  std::map<std::string, int> reasons;
  for (const auto& [kind, by_reason] : totals.skipped) {
    for (const auto& [reason, count] : by_reason) {
      skipped += count;
      reasons[reason] += count;
    }
  }
  int passed = 0;
  for (const auto& [kind, count] : totals.passed) {
    fmt::print("{:<24}{:>8} hold\n", kind, count);
    passed += count;
  }
  for (const auto& [reason, count] : reasons) fmt::print("skipped {:>8}  {}\n", count, reason);
  fmt::print("{} hold, {} failed, {} skipped\n", passed, totals.failures.size(), skipped);
}

}  // namespace

int wasm_wast(const WasmOptions& options) {
  const std::uint64_t limit =
      options.memory_limit.empty()
          ? memory::default_limit(memory::probe_cgroup(), memory::probe_machine()).bytes
          : parse_limit(options.memory_limit);
  const std::uint64_t base = memory::probe_process().resident_bytes;
  const auto budget = memory::Budget::root("process", limit - std::min(base, limit));
  wasm::EngineSettings settings;
  settings.features = wasm::FeatureSet::parse(options.features);
  settings.compile.explicit_bounds = options.explicit_bounds;
  WastTotals totals;
  for (const std::string& file : options.files) {
    auto engine = wasm::Engine::create(budget, settings);
    if (!engine) {
      fmt::print(stderr, "plimsoll: {}\n", engine.error().to_string());
      return exit_code::does_not_fit;
    }
    totals.add(run_wast_script(*engine, file));
  }
  print_totals(totals);
  return totals.failures.empty() ? exit_code::done : exit_code::failure;
}

}  // namespace plimsoll::cli
