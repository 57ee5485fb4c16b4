// Includes CLI11, like cli/options.cpp.
#include "cli/commands/wasm_options.h"

#include <CLI/CLI.hpp>

#include "cli/exit_code.h"

namespace plimsoll::cli {
namespace {

void add_rules(CLI::App& command, WasmOptions& options) {
  command
      .add_option("--features", options.features,
                  "what is allowed: 1.0, 2.0 or 3.0 (the default, with threads), and names added "
                  "with commas or taken away with a leading '-'")
      ->type_name("LIST");
  command.add_option("--memory-limit", options.memory_limit, "the most that the process may hold")
      ->type_name("SIZE");
}

void add_bounds(CLI::App& command, WasmOptions& options) {
  command
      .add_option_function<std::string>(
          "--bounds",
          [&options](const std::string& name) { options.explicit_bounds = name == "explicit"; },
          "how memory accesses are checked")
      ->check(CLI::IsMember({"guard", "explicit"}))
      ->type_name("guard|explicit");
}

void add_common(CLI::App& command, WasmOptions& options) {
  command.add_option("FILE", options.file, "a WebAssembly module")->required()->type_name("FILE");
  add_rules(command, options);
  command.add_option("--json", options.json, "write the report as JSON; - is standard output")
      ->type_name("FILE|-");
}

void add_run(CLI::App& app, WasmOptions& options) {
  CLI::App* run =
      app.add_subcommand("run", "run a module: its exit code is the guest's; a trap's is 134");
  run->add_option("FILE", options.file, "a WebAssembly module")->required()->type_name("FILE");
  add_rules(*run, options);
  add_bounds(*run, options);
  run->add_option("--invoke", options.invoke,
                  "the exported function to call, with ARGS by its types; _start unless given")
      ->type_name("NAME");
  run->add_option("--stack-size", options.stack_size, "what the guest's calls may take; 1 MiB")
      ->type_name("SIZE");
  run->add_option("--dir", options.directories,
                  "a directory that the guest may use, under the name GUEST if one is given")
      ->type_name("HOST[::GUEST]")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  run->add_option("--env", options.environment, "a variable of the guest's environment")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  run->add_option_function<std::string>(
         "--unknown-imports",
         [&options](const std::string& name) { options.unknown_imports_trap = name == "trap"; },
         "functions that nothing provides: refuse the module, or stop the guest when it calls one")
      ->check(CLI::IsMember({"trap", "error"}))
      ->type_name("trap|error");
  run->add_option("--json", options.json, "write a report as JSON to a file")->type_name("FILE");
  run->add_option("ARGS", options.arguments, "what the guest is given; put -- before them");
  run->callback([&options] { options.command = WasmCommand::run; });
}

}  // namespace

WasmParsed parse_wasm_options(int argc, char** argv) {
  WasmParsed parsed;
  CLI::App app("WebAssembly modules inside a memory limit.", "plimsoll wasm");
  app.require_subcommand(1);
  CLI::App* inspect = app.add_subcommand(
      "inspect", "show sections, imports, exports, features used and the sizes of bodies");
  add_common(*inspect, parsed.options);
  inspect->callback([&parsed] { parsed.options.command = WasmCommand::inspect; });
  CLI::App* validate = app.add_subcommand("validate", "check a module whole");
  add_common(*validate, parsed.options);
  validate->add_flag("--quiet", parsed.options.quiet, "no text but errors");
  validate->callback([&parsed] { parsed.options.command = WasmCommand::validate; });
  CLI::App* compile =
      app.add_subcommand("compile", "compile every function of a module and say what it took");
  add_common(*compile, parsed.options);
  add_bounds(*compile, parsed.options);
  compile->add_flag("--quiet", parsed.options.quiet, "no text but errors");
  compile->callback([&parsed] { parsed.options.command = WasmCommand::compile; });
  add_run(app, parsed.options);
  CLI::App* wast = app.add_subcommand(
      "wast", "run scripts of the specification's suite, as made by wasm-tools json-from-wast");
  wast->add_option("FILE", parsed.options.files, "scripts")->required()->type_name("FILE.json...");
  add_rules(*wast, parsed.options);
  add_bounds(*wast, parsed.options);
  wast->callback([&parsed] { parsed.options.command = WasmCommand::wast; });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? exit_code::done : exit_code::usage;
  }
  return parsed;
}

}  // namespace plimsoll::cli
