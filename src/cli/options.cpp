// The only file that includes CLI11.
#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/exit_code.h"

namespace plimsoll::cli {
namespace {

/// Given any number of times, each with exactly one argument.
void add_list(CLI::App& command, const std::string& name, std::vector<std::string>& list,
              const std::string& help, const std::string& form) {
  command.add_option(name, list, help)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name(form)
      ->group("Values");
}

void add_model(CLI::App& command, Options& options) {
  command.add_option("MODEL", options.model, "an ONNX model")->required()->type_name("FILE");
}

void add_json(CLI::App& command, Options& options) {
  command
      .add_option("--json", options.json,
                  "write the report as JSON; - puts it alone on standard output")
      ->type_name("FILE|-")
      ->group("Reports");
}

void add_values(CLI::App& command, Options& options) {
  add_list(command, "--input", options.inputs,
           "an input's value, given as one of\n"
           "  FILE.npy  FILE.npz:KEY  FILE.pb   tensors in files\n"
           "  FILE.png  FILE.jpg                fitted to the input's shape\n"
           "  1x3x8x8xf32=0.5  i64=16000        a constant; the second is a scalar\n"
           "  1x512xf32=random:SEED             random numbers\n"
           "without NAME= in the model's order; random:SEED alone fills all that are left",
           "[NAME=]VALUE");
  add_list(command, "--output", options.outputs, "write an output; without NAME= in order",
           "[NAME=]FILE.npy");
  add_list(command, "--state", options.states,
           "the output OUT of each run is the input IN of the next", "OUT=IN");
  add_list(command, "--dim", options.dimensions, "the size of a symbolic dimension", "NAME=N");
  add_list(command, "--shape", options.shapes, "the shape of an input", "INPUT=1x512");
  command
      .add_option("--image-range", options.image_range,
                  "what black and white of a picture become;\n0..255 unless given")
      ->check(CLI::IsMember({"0..1", "0..255", "-1..1"}).description(""))
      ->type_name("0..1|0..255|-1..1")
      ->group("Values");
}

void add_limits(CLI::App& command, Options& options) {
  const std::string group = "Memory and speed";
  command
      .add_option("--memory-limit", options.memory_limit,
                  "the most memory that the whole process may hold: bytes, 60MiB,\n"
                  "1.5GB, or 50% of the machine's. Without it: 0.8 of what the\n"
                  "cgroup or the machine has left")
      ->type_name("SIZE")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--policy",
          [&options](const std::string& name) {
            options.favor_min_peak = name == "favor-min-peak";
          },
          "favor-speed (unless given) or favor-min-peak, where both fit")
      ->check(CLI::IsMember({"favor-speed", "favor-min-peak"}).description(""))
      ->type_name("NAME")
      ->group(group);
  command.add_option("--threads", options.threads, "1 to 64; 1 unless given")
      ->check(CLI::Range(1, 64).description(""))
      ->type_name("N")
      ->group(group);
  command.add_option("--repeat", options.repeat, "how many runs: 1 unless given, of bench 10")
      ->check(CLI::Range(1, 1000000).description(""))
      ->type_name("N")
      ->group(group);
  command
      .add_option("--target", options.target,
                  "kernels for other instructions than this CPU's best:\n"
                  "generic, avx2, avx512, avx512-on-256")
      ->type_name("NAME")
      ->group(group);
}

void add_run_options(CLI::App& command, Options& options) {
  add_model(command, options);
  add_limits(command, options);
  add_values(command, options);
  add_json(command, options);
  command.add_option("--timeline", options.timeline, "draw memory over time under the limit")
      ->type_name("FILE.svg")
      ->group("Reports");
  command
      .add_option("--profile", options.profile,
                  "time and bytes of each node, in the Chrome trace form")
      ->type_name("FILE.json")
      ->group("Reports");
  command.add_flag("--quiet", options.quiet, "no text but errors and refusals")->group("Reports");
}

/// What CLI11 found wrong, as this program says it.
void print_usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string names;
  bool command_given = false;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
    command_given = command_given || (argc > 1 && command->get_name() == argv[1]);
  }
  if (command_given) {
    fmt::print(stderr, "plimsoll: {}; 'plimsoll {} --help' lists the options\n", error.what(),
               argv[1]);
  } else if (argc > 1) {
    fmt::print(stderr,
               "plimsoll: '{}' is no command; give one of: {}; 'plimsoll --help' says more\n",
               argv[1], names);
  } else {
    fmt::print(stderr, "plimsoll: give a command: {}; 'plimsoll --help' says more\n", names);
  }
}

}  // namespace

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  CLI::App app("Runs machine-learning models (ONNX) inside a memory limit.", "plimsoll");
  app.set_version_flag("--version", "plimsoll " PLIMSOLL_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  plimsoll plan model.onnx --memory-limit 60MiB --input random:1\n"
      "  plimsoll run model.onnx --memory-limit 60MiB --input picture.png --output y.npy\n"
      "Each command has its own --help. Exit codes:\n"
      "  0 done   2 usage   3 bad or missing file, model or value   4 does not fit\n"
      "  5 the kernel saw more than the limit   6 failure while running");
  struct Entry {
    const char* name;
    const char* help;
    Command command;
  };
  constexpr Entry entries[] = {
      {"run", "run a model under a limit", Command::run},
      {"plan", "say what a run would take; nothing large is done", Command::plan},
      {"inspect", "show inputs, outputs, operators and weights", Command::inspect},
      {"bench", "time a model: median, spread, peak", Command::bench}};
  for (const Entry& entry : entries) {
    CLI::App* command = app.add_subcommand(entry.name, entry.help);
    if (entry.command == Command::inspect) {
      add_model(*command, parsed.options);
      add_json(*command, parsed.options);
    } else {
      add_run_options(*command, parsed.options);
    }
    command->footer("");
    command->get_formatter()->column_width(36);
    command->callback([&parsed, &entry] { parsed.options.command = entry.command; });
  }
  // For the list in --help: main() hands these to the options of their own.
  app.add_subcommand("wasm", "WebAssembly modules: see plimsoll wasm --help");
  app.add_subcommand("archive", "parameter archives: see plimsoll archive --help");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help or --version, not a fault
      parsed.exit_code = app.exit(error) == 0 ? exit_code::done : exit_code::usage;
    } else {
      print_usage_error(app, error, argc, argv);
      parsed.exit_code = exit_code::usage;
    }
  }
  return parsed;
}

}  // namespace plimsoll::cli
