#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace plimsoll::cli {
namespace {

void add_run_options(CLI::App& command, Options& options) {
  command.add_option("MODEL", options.model, "an ONNX model")->required();
  command.add_option("--memory-limit", options.memory_limit,
                     "peak resident memory of the process: 60MiB, 1.5GB, 50%");
  command
      .add_option("--input", options.inputs,
                  "[NAME=]VALUE: .npy, .pb, .png, .jpg, 1x3x8x8xf32=0.5, 1x8xf32=random:1, or "
                  "random:SEED for all")
      ->take_all();
  command.add_option("--output", options.outputs, "[NAME=]FILE.npy")->take_all();
  command.add_option("--state", options.states, "OUT=IN: an output that is the next run's input")
      ->take_all();
  command.add_option("--dim", options.dimensions, "NAME=N: a symbolic dimension")->take_all();
  command.add_option("--shape", options.shapes, "INPUT=1x512: an input's shape")->take_all();
  command.add_option("--threads", options.threads, "1 to 64");
  command.add_option("--repeat", options.repeat, "how many runs");
  command.add_option("--policy", options.policy, "favor-speed or favor-min-peak")
      ->check(CLI::IsMember({"favor-speed", "favor-min-peak"}));
  command.add_option("--target", options.target, "the kernels' instructions, such as avx2");
  command.add_option("--image-range", options.image_range, "0..1, 0..255 or -1..1")
      ->check(CLI::IsMember({"0..1", "0..255", "-1..1"}));
  command.add_option("--json", options.json, "write the report as JSON to a file, or - for stdout");
  command.add_option("--timeline", options.timeline, "draw memory over time into FILE.svg");
  command.add_option("--profile", options.profile, "time per node, as a Chrome trace");
  command.add_flag("--quiet", options.quiet, "no text");
}

}  // namespace

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  CLI::App app("Runs machine-learning models inside a memory limit.", "plimsoll");
  app.set_version_flag("--version", "plimsoll " PLIMSOLL_VERSION);
  app.require_subcommand(1);
  add_run_options(*app.add_subcommand("run", "run a model under a limit"), parsed.options);
  add_run_options(*app.add_subcommand("plan", "say what a run would take; nothing large is done"),
                  parsed.options);
  add_run_options(*app.add_subcommand("bench", "time a model: median, spread, peak"),
                  parsed.options);
  CLI::App* inspect = app.add_subcommand("inspect", "show inputs, outputs, operators and weights");
  inspect->add_option("MODEL", parsed.options.model, "an ONNX model")->required();
  inspect->add_option("--json", parsed.options.json, "write JSON to a file, or - for stdout");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? exit_code::done : exit_code::usage;
    return parsed;
  }
  parsed.options.command = app.get_subcommands().front()->get_name();
  return parsed;
}

}  // namespace plimsoll::cli
