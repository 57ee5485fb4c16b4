// The only file that includes CLI11.
#include "cli/options.h"

#include <CLI/CLI.hpp>

#include "cli/exit_code.h"

namespace plimsoll::cli {
namespace {

/// Given any number of times, each with exactly one argument.
void add_list(CLI::App& command, const std::string& name, std::vector<std::string>& list,
              const std::string& help, const std::string& form) {
  command.add_option(name, list, help)->take_all()->allow_extra_args(false)->type_name(form);
}

void add_model(CLI::App& command, Options& options) {
  command.add_option("MODEL", options.model, "an ONNX model")->required()->type_name("FILE");
}

void add_json(CLI::App& command, Options& options) {
  command.add_option("--json", options.json, "write the report as JSON; - is standard output")
      ->type_name("FILE|-");
}

void add_run_options(CLI::App& command, Options& options) {
  add_model(command, options);
  command
      .add_option("--memory-limit", options.memory_limit,
                  "the most that the process may hold: 60MiB, 1.5GB, 50% of the machine")
      ->type_name("SIZE");
  add_list(command, "--input", options.inputs,
           "a value: FILE.npy, FILE.npz:KEY, FILE.pb, a .png or .jpg, 1x3x8x8xf32=0.5, i64=16000, "
           "1x8xf32=random:1; random:SEED alone fills all inputs",
           "[NAME=]VALUE");
  add_list(command, "--output", options.outputs, "write an output", "[NAME=]FILE.npy");
  add_list(command, "--state", options.states, "an output that becomes the next run's input",
           "OUT=IN");
  add_list(command, "--dim", options.dimensions, "the size of a symbolic dimension", "NAME=N");
  add_list(command, "--shape", options.shapes, "the shape of an input", "INPUT=1x512");
  command.add_option("--threads", options.threads, "1 to 64")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  command.add_option("--repeat", options.repeat, "how many runs")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--policy",
          [&options](const std::string& name) {
            options.favor_min_peak = name == "favor-min-peak";
          },
          "favor-speed (the default) or favor-min-peak")
      ->check(CLI::IsMember({"favor-speed", "favor-min-peak"}))
      ->type_name("NAME");
  command
      .add_option("--target", options.target, "kernels for other instructions than this CPU's best")
      ->type_name("NAME");
  command
      .add_option("--image-range", options.image_range, "what a picture's black and white become")
      ->check(CLI::IsMember({"0..1", "0..255", "-1..1"}))
      ->type_name("0..1|0..255|-1..1");
  add_json(command, options);
  command.add_option("--timeline", options.timeline, "draw memory over time")
      ->type_name("FILE.svg");
  command
      .add_option("--profile", options.profile, "time and bytes of each node, as a Chrome trace")
      ->type_name("FILE.json");
  command.add_flag("--quiet", options.quiet, "no text but errors");
}

}  // namespace

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  CLI::App app("Runs machine-learning models inside a memory limit.", "plimsoll");
  app.set_version_flag("--version", "plimsoll " PLIMSOLL_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 2 usage; 3 bad or missing file, model or value; 4 does not fit; "
      "5 the kernel saw more than the limit; 6 failure while running.");
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
    command->callback([&parsed, &entry] { parsed.options.command = entry.command; });
  }
  // For the list in --help: main() hands these to the options of their own.
  app.add_subcommand("wasm", "WebAssembly modules: see plimsoll wasm --help");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? exit_code::done : exit_code::usage;
  }
  return parsed;
}

}  // namespace plimsoll::cli
