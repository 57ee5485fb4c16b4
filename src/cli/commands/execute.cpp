#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/commands/outputs.h"
#include "cli/exit_code.h"
#include "cli/inputs/assignment.h"
#include "cli/inputs/loaded_inputs.h"
#include "cli/output_file.h"
#include "cli/report/report.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/printable.h"
#include "cli/terminal/progress.h"
#include "plimsoll/limit.h"

namespace plimsoll::cli {
namespace {

/// `bench` without --repeat; one more run before them warms up.
constexpr int bench_runs = 10;

EngineOptions engine_options(const Options& options, ProgressLine& progress) {
  EngineOptions result;
  if (!options.memory_limit.empty()) result.memory_limit_bytes = parse_limit(options.memory_limit);
  result.limit_covers_process = true;
  result.owns_process = true;
  result.threads = options.threads;
  result.policy = options.favor_min_peak ? Policy::favor_min_peak : Policy::favor_speed;
  result.target = options.target;
  result.progress = progress.callback();
  return result;
}

/// What goes to people and files. Everything here is written at most once.
class Publisher {
 public:
  Publisher(const Options& options, ProgressLine& progress)
      : options_(options), progress_(progress) {
    for (const std::string* file : {&options.json, &options.timeline, &options.profile}) {
      if (!file->empty()) require_writable(*file);
    }
  }
  /// JSON on standard output stands there alone.
  void text(std::string text) {
    if (options_.quiet) return;
    text = printable(std::move(text));
    progress_.clear();
    std::FILE* const stream = options_.json == "-" ? stderr : stdout;
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
  }
  void files(const Engine& engine, const Report& report) {
    if (!options_.timeline.empty()) {
      const std::string name = std::filesystem::path(report.model).filename().string();
      write(options_.timeline, engine.timeline_svg(name, report.plan.predicted_peak_bytes));
    }
    if (!options_.profile.empty()) write(options_.profile, profile_json(report));
    if (!options_.json.empty()) write(options_.json, report_json(options_.command, report));
  }

 private:
  static void write(const std::string& path, const std::string& text) {
    OutputFile file(path);
    file.write(text);
    file.close();
  }
  const Options& options_;
  ProgressLine& progress_;
};

/// One sentence on standard error, whatever else is printed: the program's answer is no.
void print_refusal(const PlanReport& plan) {
  fmt::print(stderr, "plimsoll: does not fit: {}the limit is {} ({} bytes); ",
             plan.stage.empty() ? "" : printable(plan.stage) + ": ", format_bytes(plan.limit_bytes),
             plan.limit_bytes);
  if (plan.smallest_workable_limit_bytes == 0) {
    fmt::print(stderr, "what would work is not known yet; give more with --memory-limit\n");
  } else {
    fmt::print(stderr, "the smallest that would work is {}: --memory-limit {}\n",
               format_bytes(plan.smallest_workable_limit_bytes),
               plan.smallest_workable_limit_bytes);
  }
}

int refuse(const Engine& engine, Publisher& publisher, Report& report, const Refusal& refusal) {
  // Granted under the limit and refused by the kernel: a stricter limit from outside, or memory
  // that was taken behind the ledger's back.
  if (refusal.by_kernel) throw Error(ErrorKind::failure, refusal.to_string());
  report.plan.verdict = Verdict::does_not_fit;
  report.plan.stage = refusal.stage;
  // What the plan said was for what it knew; later stages ask for more. 0: not known.
  report.plan.smallest_workable_limit_bytes = refusal.smallest_workable_limit_bytes;
  report.take_kernel_figures();
  publisher.files(engine, report);
  fmt::print(stderr, "plimsoll: does not fit: {}\n", printable(refusal.to_string()));
  return exit_code::does_not_fit;
}

/// The program never claims what the kernel denies.
int judged(Report& report) {
  report.take_kernel_figures();
  if (!report.over_limit()) {
    return report.plan.verdict == Verdict::does_not_fit ? exit_code::does_not_fit : exit_code::done;
  }
  fmt::print(
      stderr,
      "plimsoll: THE LIMIT WAS NOT KEPT: the kernel saw {} bytes (VmHWM), {} are allowed. "
      "This is a fault of plimsoll: please report it, with the model and the command line.\n",
      report.kernel_peak_bytes, report.plan.limit_bytes);
  return exit_code::over_limit;
}

int execute_with(const Engine& engine, const Options& options, Publisher& publisher,
                 ProgressLine& progress) {
  const Model model = engine.open(options.model);
  const ModelInfo info = model.info();
  const std::vector<std::string> files = assign_outputs(options, info);
  const std::vector<ValueRequest> requests = assign_inputs(options, info);
  if (options.command != Command::plan) require_all_inputs(requests);

  Session session = model.new_session();
  for (const StateBinding& state : assign_states(options, info)) {
    session.bind_state(state.output, state.input);
  }
  // Declared after the session, which borrows from it: the session is not used after it is gone.
  LoadedInputs inputs(engine, session, requests);
  Report report;
  report.model = options.model;
  report.plan = session.plan({inputs.refused_bytes(), inputs.scratch_bytes()});
  if (inputs.refused_bytes() != 0) report.plan.verdict = Verdict::does_not_fit;
  publisher.text(plan_text(report));
  if (options.command == Command::plan || report.plan.verdict == Verdict::does_not_fit) {
    report.take_kernel_figures();
    publisher.files(engine, report);
    if (report.plan.verdict == Verdict::does_not_fit) print_refusal(report.plan);
    return judged(report);
  }

  engine.begin_phase("inputs");
  if (auto outcome = inputs.read_all(engine, session); !outcome) {
    return refuse(engine, publisher, report, outcome.error());
  }
  session.set_profiling(!options.profile.empty());
  const bool bench = options.command == Command::bench;
  const int runs = options.repeat != 0 ? options.repeat : bench ? bench_runs : 1;
  for (int run = bench ? -1 : 0; run < runs; ++run) {
    throw_if_interrupted();
    progress.begin_run(std::max(run, 0) + 1, runs);
    auto outcome = session.run();
    if (!outcome) return refuse(engine, publisher, report, outcome.error());
    report.add_run(*outcome);
    if (run < 0) report.run_seconds.clear();
  }
  progress.clear();
  report.outputs = collect_outputs(session, info, files);
  report.take_kernel_figures();
  // Reports are made in the room that activations leave.
  session.release_memory();
  publisher.text(run_text(report));
  publisher.files(engine, report);
  return judged(report);
}

}  // namespace

int execute(const Options& options) {
  ProgressLine progress(!options.quiet);
  Publisher publisher(options, progress);
  const Engine engine = Engine::create(engine_options(options, progress));
  const InterruptGuard guard(engine);
  try {
    return execute_with(engine, options, publisher, progress);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::internal, engine.explain_exhausted_heap());
  }
}

}  // namespace plimsoll::cli
