// `plimsoll wasm run FILE`: compiles a module, makes an instance and calls a function of it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <new>
#include <optional>

#include "cli/commands/wasm.h"
#include "cli/commands/wasm_run_report.h"
#include "cli/commands/wasm_run_values.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "cli/terminal/printable.h"
#include "memory/heap.h"
#include "memory/probe.h"
#include "memory/size.h"
#include "plimsoll/limit.h"
#include "wasm/binary/mapped_file.h"
#include "wasm/runtime/instance.h"
#include "wasm/wasi/wasi.h"

namespace plimsoll::cli {
namespace {

/// As a shell shows a program that called abort().
constexpr int trap_exit_code = 134;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string exported_functions(const wasm::Module& module) {
  std::string names;
  for (const wasm::Export& one : module.exports) {
    if (one.kind != wasm::ExternalKind::function) continue;
    if (names.size() > 200) return names + ", …";
    names += fmt::format("{}{}", names.empty() ? "" : ", ", module.name(one.name));
  }
  return names.empty() ? "none" : names;
}

/// One run; what is known of it stays in the report, whatever stops it.
class Run {
 public:
  Run(const WasmOptions& options, WasmRunReport& report) : options_(options), report_(report) {}

  [[nodiscard]] std::expected<void, Refusal> perform() {
    wasm::EngineSettings settings;
    settings.features = wasm::FeatureSet::parse(options_.features);
    settings.compile.explicit_bounds = options_.explicit_bounds;
    const std::uint64_t stack_bytes =
        options_.stack_size.empty() ? wasm::Store::default_stack_bytes
                                    : memory::parse_size(options_.stack_size, report_.limit_bytes);
    const auto budget = memory::Budget::root(
        "process", report_.limit_bytes - std::min(report_.base_bytes, report_.limit_bytes));
    auto heap = memory::HeapEntry::open(*budget);
    if (!heap) return std::unexpected(std::move(heap.error()));
    auto code = compile(budget, settings);
    if (!code) return std::unexpected(std::move(code.error()));
    if (auto grown = heap->update(); !grown) return std::unexpected(std::move(grown.error()));
    const auto begin = std::chrono::steady_clock::now();
    wasm::Store store((*code)->engine(), stack_bytes);
    std::expected<void, Refusal> outcome;
    try {
      outcome = execute(store, *code);
    } catch (const wasm::GuestExit& exit) {
      report_.reason = ExitReason::guest;
      report_.exit_code = static_cast<int>(exit.code & 0xFFU);  // what the system keeps of it
    }
    report_.run_seconds = seconds_since(begin);
    return outcome;
  }

 private:
  std::expected<std::shared_ptr<const wasm::CodeModule>, Refusal> compile(
      const std::shared_ptr<memory::Budget>& budget, const wasm::EngineSettings& settings) {
    const auto begin = std::chrono::steady_clock::now();
    auto engine = wasm::Engine::create(budget, settings);
    if (!engine) return std::unexpected(std::move(engine.error()));
    auto file = wasm::MappedFile::open(*budget, options_.file);
    if (!file) return std::unexpected(std::move(file.error()));
    auto code = wasm::CodeModule::compile(*engine, *file);
    if (!code) return code;
    report_.compile_seconds = seconds_since(begin);
    report_.code_bytes = (*code)->code_bytes();
    return code;
  }

  std::expected<void, Refusal> execute(wasm::Store& store,
                                       const std::shared_ptr<const wasm::CodeModule>& code) {
    const wasm::Module& module = code->module();
    wasm::Wasi wasi(config());
    std::vector<wasm::External> imports;
    imports.reserve(module.imports.size());
    for (const wasm::Import& import : module.imports) {
      imports.emplace_back(resolve(store, wasi, module, import));
    }
    const auto made = wasm::Instance::create(store, code, imports);
    if (!made) return std::unexpected(made.error());
    if (made->trap != wasm::TrapKind::none) {
      trapped(made->trap);
      return {};
    }
    wasi.attach(*made->instance);
    call(store, *made->instance);
    return {};
  }

  [[nodiscard]] wasm::WasiConfig config() const {
    wasm::WasiConfig config;
    config.arguments.push_back(std::filesystem::path(options_.file).filename().string());
    if (options_.invoke.empty()) {  // otherwise they are the function's
      config.arguments.insert(config.arguments.end(), options_.arguments.begin(),
                              options_.arguments.end());
    }
    for (const std::string& variable : options_.environment) {
      if (variable.find('=') == std::string::npos || variable.starts_with('=')) {
        throw Error(ErrorKind::usage,
                    fmt::format("--env '{}' is not of the form NAME=VALUE", variable));
      }
      config.environment.push_back(variable);
    }
    for (const std::string& directory : options_.directories) {
      const std::size_t mark = directory.find("::");
      const std::string host = directory.substr(0, mark);
      const std::string guest = mark == std::string::npos ? host : directory.substr(mark + 2);
      if (host.empty() || guest.empty()) {
        throw Error(ErrorKind::usage,
                    fmt::format("--dir '{}' is not of the form HOST or HOST::GUEST", directory));
      }
      config.directories.push_back({.host = host, .guest = guest});
    }
    return config;
  }

  wasm::FunctionRecord* resolve(wasm::Store& store, const wasm::Wasi& wasi,
                                const wasm::Module& module, const wasm::Import& import) {
    if (import.kind == wasm::ExternalKind::function) {
      if (module.name(import.module) == wasm::Wasi::module_name) {
        wasm::FunctionRecord* const found = wasi.find(store, module.name(import.field));
        if (found != nullptr) return found;
      }
      if (options_.unknown_imports_trap) return trapping_import(store, module, import);
    }
    fail_input(fmt::format("the module imports {} '{}'.'{}', which nothing here provides{}",
                           wasm::external_kind_name(import.kind), module.name(import.module),
                           module.name(import.field),
                           import.kind == wasm::ExternalKind::function
                               ? "; --unknown-imports trap runs it until it is called"
                               : ""));
  }

  /// A function of the right type that stops its caller.
  wasm::FunctionRecord* trapping_import(wasm::Store& store, const wasm::Module& module,
                                        const wasm::Import& import) {
    const std::uint32_t type = module.functions[import.index].type;
    const auto parameters = module.types.parameters(type);
    const auto results = module.types.results(type);
    const auto names_a_type = [](wasm::ValueType value) {
      return value.is_reference() && value.heap().is_concrete();
    };
    const std::string name =
        fmt::format("'{}'.'{}'", module.name(import.module), module.name(import.field));
    if (std::ranges::any_of(parameters, names_a_type) ||
        std::ranges::any_of(results, names_a_type)) {
      fail_unsupported(fmt::format("the unknown import {} has a type of the module's own", name));
    }
    return store.add_host_function(
        parameters, results, [this, name](std::span<const wasm::Cell>, std::span<wasm::Cell>) {
          unknown_called_ = name;
          return wasm::TrapKind::unreachable;
        });
  }

  /// `--invoke`, or else what a program begins with: `_start`. A library only has its
  /// `_initialize`.
  void call(wasm::Store& store, wasm::Instance& instance) {
    const bool is_asked = !options_.invoke.empty();
    report_.reason = ExitReason::guest;
    wasm::FunctionRecord* initialize = function(instance, "_initialize");
    if (initialize != nullptr && options_.invoke != "_initialize") {
      if (!is_plain(store, *initialize)) fail_input("'_initialize' has parameters or results");
      if (!perform_call(store, *initialize, {})) return;
    }
    const std::string name = is_asked ? options_.invoke : "_start";
    wasm::FunctionRecord* called = function(instance, name);
    if (called == nullptr) {
      if (!is_asked) return;
      fail_input(fmt::format("no function '{}' is exported; exported functions: {}", name,
                             exported_functions(instance.code().module())));
    }
    if (!is_asked) {
      if (!is_plain(store, *called)) fail_input("'_start' has parameters or results");
      (void)perform_call(store, *called, {});
      return;
    }
    const auto parameters = store.parameters_of(*called);
    if (parameters.size() != options_.arguments.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("'{}' takes {} arguments, {} are given; they follow --", name,
                              parameters.size(), options_.arguments.size()));
    }
    std::vector<wasm::Cell> arguments;
    arguments.reserve(parameters.size());
    for (std::size_t index = 0; index < parameters.size(); ++index) {
      arguments.push_back(parse_guest_value(options_.arguments[index], parameters[index]));
    }
    const auto results = perform_call(store, *called, arguments);
    if (!results) return;
    const auto types = store.results_of(*called);
    for (std::size_t index = 0; index < types.size(); ++index) {
      report_.results.push_back(format_guest_value((*results)[index], types[index]));
    }
  }

  static wasm::FunctionRecord* function(const wasm::Instance& instance, const std::string& name) {
    const auto found = instance.find_export(name);
    if (!found) return nullptr;
    const auto* record = std::get_if<wasm::FunctionRecord*>(&*found);
    return record == nullptr ? nullptr : *record;
  }

  static bool is_plain(const wasm::Store& store, const wasm::FunctionRecord& function) {
    return store.parameters_of(function).empty() && store.results_of(function).empty();
  }

  /// The results; nothing after a trap, which the report holds then.
  std::optional<std::vector<wasm::Cell>> perform_call(wasm::Store& store,
                                                      const wasm::FunctionRecord& function,
                                                      std::span<const wasm::Cell> arguments) {
    auto outcome = store.call(function, arguments);
    if (outcome.trap == wasm::TrapKind::none) return std::move(outcome.results);
    trapped(outcome.trap);
    return std::nullopt;
  }

  void trapped(wasm::TrapKind trap) {
    report_.reason = ExitReason::trap;
    report_.exit_code = trap_exit_code;
    report_.message =
        unknown_called_.empty()
            ? wasm::trap_message(trap)
            : fmt::format("{} was called, which nothing here provides", unknown_called_);
  }

  const WasmOptions& options_;
  WasmRunReport& report_;
  std::string unknown_called_;  ///< the import that stopped the guest
};

void write_report(const WasmOptions& options, WasmRunReport& report) {
  report.kernel_peak_bytes = memory::probe_process().peak_resident_bytes;
  if (options.json.empty()) return;
  OutputFile file(options.json);
  file.write(wasm_run_json(report));
  file.close();
}

void failed(WasmRunReport& report, int exit_code, const std::string& message) {
  report.reason = ExitReason::error;
  report.exit_code = exit_code;
  report.message = message;
}

void print_results(const WasmRunReport& report) {
  if (report.results.empty()) return;
  OutputFile out("-");
  for (const std::string& result : report.results) out.write(result + "\n");
  out.close();
}

}  // namespace

int wasm_run(const WasmOptions& options) {
  if (options.json == "-") {
    throw Error(ErrorKind::usage, "run --json needs a file: standard output is the guest's");
  }
  if (!options.json.empty()) require_writable(options.json);
  memory::configure_heap();
  // A guest that writes to a closed pipe is told so, like a program that ignores the signal.
  (void)std::signal(SIGPIPE, SIG_IGN);
  WasmRunReport report;
  report.file = options.file;
  report.limit_bytes =
      options.memory_limit.empty()
          ? memory::default_limit(memory::probe_cgroup(), memory::probe_machine()).bytes
          : parse_limit(options.memory_limit);
  report.base_bytes = memory::probe_process().resident_bytes;
  try {
    const auto outcome = Run(options, report).perform();
    if (!outcome) {
      report.reason = ExitReason::limit;
      report.exit_code = exit_code::does_not_fit;
      report.message = outcome.error().to_string();
    }
    print_results(report);
  } catch (const Error& error) {
    failed(report, exit_code::of(error.kind()), error.message());
    write_report(options, report);
    throw;
  } catch (const std::bad_alloc&) {
    failed(report, exit_code::failure, "the heap is exhausted");
    write_report(options, report);
    throw;
  }
  report.kernel_peak_bytes = memory::probe_process().peak_resident_bytes;
  if (report.reason != ExitReason::limit && report.kernel_peak_bytes > report.limit_bytes) {
    report.reason = ExitReason::limit;
    report.exit_code = exit_code::over_limit;
    report.message =
        fmt::format("the kernel saw {} at the peak, more than the limit of {}",
                    format_bytes(report.kernel_peak_bytes), format_bytes(report.limit_bytes));
  }
  write_report(options, report);
  if (report.reason == ExitReason::trap) {
    fmt::print(stderr, "plimsoll: {}: trap: {}\n", printable(report.file), report.message);
  } else if (report.reason != ExitReason::guest) {
    fmt::print(stderr, "plimsoll: {}\n", printable(report.message));
  }
  return report.exit_code;
}

}  // namespace plimsoll::cli
