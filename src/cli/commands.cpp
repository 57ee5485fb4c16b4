// run, plan, bench, inspect.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <optional>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/values/npy.h"
#include "cli/values/value.h"
#include "plimsoll/engine.h"
#include "plimsoll/limit.h"

namespace plimsoll::cli {
namespace {

const Engine* interruptible = nullptr;
void on_interrupt(int) {
  if (interruptible != nullptr) interruptible->cancel();
}

std::pair<std::string, std::string> split(const std::string& text, const char* option) {
  const std::size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) {
    throw Error(ErrorKind::usage, fmt::format("{} '{}': NAME=VALUE is needed", option, text));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::int64_t number(std::string_view text, const std::string& what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) {
    throw Error(ErrorKind::usage, fmt::format("{}: '{}' is not a dimension", what, text));
  }
  return value;
}

Shape parse_shape(std::string_view text, const std::string& what) {
  std::vector<std::int64_t> dimensions;
  while (!text.empty()) {
    const std::size_t end = text.find('x');
    dimensions.push_back(number(text.substr(0, end), what));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return Shape(dimensions);
}

std::string declared_shape(const ValueInfo& info) {
  if (!info.dimensions) return "any shape";
  std::string text;
  for (const DimensionInfo& dimension : *info.dimensions) {
    if (!text.empty()) text += "x";
    text += dimension.value >= 0 ? std::to_string(dimension.value)
                                 : (dimension.symbol.empty() ? "?" : dimension.symbol);
  }
  return text.empty() ? "scalar" : text;
}

/// The command line's values, matched to the model's inputs.
class InputPlan {
 public:
  InputPlan(const Options& options, const ModelInfo& info) : info_(info) {
    std::map<std::string, std::int64_t> dims;
    for (const std::string& text : options.dimensions) {
      const auto [name, value] = split(text, "--dim");
      dims[name] = number(value, "--dim");
    }
    std::map<std::string, Shape> shapes;
    for (const std::string& text : options.shapes) {
      const auto [name, value] = split(text, "--shape");
      if (std::ranges::none_of(info.inputs, [&](const auto& i) { return i.name == name; })) {
        throw Error(ErrorKind::usage, fmt::format("--shape: the model has no input '{}'", name));
      }
      shapes[name] = parse_shape(value, "--shape");
    }
    ImageRange range = ImageRange::zero_to_255;
    if (options.image_range == "0..1") range = ImageRange::zero_to_one;
    if (options.image_range == "-1..1") range = ImageRange::minus_one_to_one;
    for (std::size_t index = 0; index < info.inputs.size(); ++index) {
      ValueRequest& request = requests_.emplace_back();
      request.element = info.inputs[index].element;
      request.input_number = index;
      request.range = range;
      if (const auto given = shapes.find(info.inputs[index].name); given != shapes.end()) {
        request.shape = given->second;
      } else if (info.inputs[index].dimensions) {
        std::vector<std::int64_t> dimensions;
        for (const DimensionInfo& dimension : *info.inputs[index].dimensions) {
          const auto named = dims.find(dimension.symbol);
          dimensions.push_back(dimension.value >= 0  ? dimension.value
                               : named != dims.end() ? named->second
                                                     : 1);
        }
        request.shape = Shape(dimensions);
      }
    }
    std::size_t next = 0;
    for (const std::string& text : options.inputs) {
      if (text.starts_with("random:") && options.inputs.size() == 1) {
        for (ValueRequest& request : requests_) request.text = text;
        return;
      }
      place(text, next);
    }
  }

  void require_all() const {
    std::string missing;
    for (std::size_t index = 0; index < requests_.size(); ++index) {
      if (!requests_[index].text.empty()) continue;
      missing += fmt::format("\n  {} {} {}", info_.inputs[index].name,
                             element_name(info_.inputs[index].element),
                             declared_shape(info_.inputs[index]));
    }
    if (!missing.empty()) {
      fail_input(
          fmt::format("inputs are missing; give each with --input NAME=VALUE, or all with "
                      "--input random:1:{}",
                      missing));
    }
  }
  [[nodiscard]] const std::vector<ValueRequest>& requests() const { return requests_; }

 private:
  void place(const std::string& text, std::size_t& next) {
    // The longest input name that stands before a '=' wins: names may hold ':' and '/'.
    std::optional<std::size_t> named;
    for (std::size_t index = 0; index < info_.inputs.size(); ++index) {
      const std::string prefix = info_.inputs[index].name + "=";
      if (text.starts_with(prefix) &&
          (!named || prefix.size() > info_.inputs[*named].name.size() + 1)) {
        named = index;
      }
    }
    if (named) {
      requests_[*named].text = text.substr(info_.inputs[*named].name.size() + 1);
      return;
    }
    while (next < requests_.size() && !requests_[next].text.empty()) ++next;
    if (next == requests_.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("--input '{}': the model has only {} inputs, and none of that name",
                              text, requests_.size()));
    }
    requests_[next].text = text;
  }

  const ModelInfo& info_;
  std::vector<ValueRequest> requests_;
};

/// Values that decide shapes are bound even for a plan; they are small.
constexpr std::int64_t small_elements = 16;

void bind_for_plan(const Engine& engine, Session& session, const ModelInfo& info,
                   const InputPlan& inputs, std::vector<InputValue>& values,
                   std::vector<HostMemory>& reserved) {
  for (std::size_t index = 0; index < info.inputs.size(); ++index) {
    const ValueRequest& request = inputs.requests()[index];
    std::optional<ValueType> type;
    if (request.text.empty()) {
      if (request.shape && request.element != ElementType::undefined) {
        type = ValueType{request.element, *request.shape};
      }
      if (!type) inputs.require_all();
    } else {
      type = peek_value(request);
    }
    const bool small = type && type->shape.elements() <= small_elements;
    if (!request.text.empty() && (!type || small)) {
      auto value = decode_value(engine, request);
      if (!value) fail_input(value.error().to_string());
      bind_value(session, info.inputs[index].name, *value);
      values.push_back(std::move(*value));
      continue;
    }
    // What run would hold for this input counts in the plan, without being touched.
    auto memory =
        engine.allocate(checked_bytes(type->shape, element_size(type->type), "input"), "input");
    if (memory) reserved.push_back(std::move(*memory));
    session.set_input_shape(info.inputs[index].name, type->type, type->shape);
  }
}

}  // namespace

void bind_value(Session& session, const std::string& name, const InputValue& value) {
  if (value.is_absent) {
    session.set_input_absent(name);
  } else if (value.is_sequence) {
    std::vector<ConstTensorView> views;
    for (const auto& item : value.items) views.push_back(item.view());
    session.set_input_sequence(name, std::move(views));
  } else {
    session.set_input(name, value.items.front().view());
  }
}

namespace {

EngineOptions engine_options(const Options& options) {
  EngineOptions result;
  if (!options.memory_limit.empty()) result.memory_limit_bytes = parse_limit(options.memory_limit);
  result.limit_covers_process = true;
  result.threads = options.threads;
  result.policy = options.policy == "favor-speed" ? Policy::favor_speed : Policy::favor_min_peak;
  result.target = options.target;
  return result;
}

int refuse(const Options& options, Report& report, const Refusal& refusal) {
  report.plan.verdict = Verdict::does_not_fit;
  if (refusal.smallest_workable_limit_bytes != 0) {
    report.plan.smallest_workable_limit_bytes = refusal.smallest_workable_limit_bytes;
  }
  report.finish();
  write_report(options, report);
  if (!options.quiet) {
    fmt::print(stderr, "plimsoll: does not fit: {}\n", refusal.to_string());
  }
  return exit_code::does_not_fit;
}

int run_model(const Options& options) {
  Engine engine = Engine::create(engine_options(options));
  interruptible = &engine;
  std::signal(SIGINT, on_interrupt);
  Model model = engine.open(options.model);
  const ModelInfo info = model.info();
  Session session = model.new_session();
  const InputPlan inputs(options, info);
  Report report;
  report.command = options.command;
  report.model = options.model;
  std::vector<InputValue> values;
  std::vector<HostMemory> reserved;

  // The plan is made before any large input is decoded.
  if (options.command != "plan") inputs.require_all();
  bind_for_plan(engine, session, info, inputs, values, reserved);
  report.plan = session.plan();
  if (options.command == "plan" || report.plan.verdict == Verdict::does_not_fit) {
    report.finish();
    write_report(options, report);
    print_plan(options, report);
    return report.plan.verdict == Verdict::does_not_fit ? exit_code::does_not_fit : exit_code::done;
  }
  print_plan(options, report);
  reserved.clear();
  values.clear();
  for (std::size_t index = 0; index < info.inputs.size(); ++index) {
    auto value = decode_value(engine, inputs.requests()[index]);
    if (!value) return refuse(options, report, value.error());
    bind_value(session, info.inputs[index].name, *value);
    values.push_back(std::move(*value));
  }
  for (const std::string& state : options.states) {
    const auto [output, input] = split(state, "--state");
    session.bind_state(output, input);
  }
  session.set_profiling(!options.profile.empty());
  const int runs = std::max(options.repeat, options.command == "bench" ? 5 : 1);
  for (int run = 0; run < runs; ++run) {
    auto outcome = session.run();
    if (!outcome) return refuse(options, report, outcome.error());
    if (run == 0) report.load_seconds = outcome->load_seconds;
    report.run_seconds.push_back(outcome->run_seconds);
    report.merge(*outcome);
  }
  report.collect_outputs(session, info, options);
  report.finish();
  write_report(options, report);
  write_pictures(options, engine, report);
  print_run(options, report);
  if (report.kernel_peak_bytes > report.plan.limit_bytes) {
    fmt::print(stderr,
               "plimsoll: THE KERNEL SAW {} BYTES, MORE THAN THE LIMIT OF {}. This is a fault of "
               "plimsoll; please report it with the model and the command.\n",
               report.kernel_peak_bytes, report.plan.limit_bytes);
    return exit_code::over_limit;
  }
  return exit_code::done;
}

int inspect_model(const Options& options) {
  Engine engine = Engine::create({});
  const ModelInfo info = engine.open(options.model).info();
  write_inspection(options, info, Engine::kernel_memory());
  return exit_code::done;
}

}  // namespace

int run_command(const Options& options) {
  return options.command == "inspect" ? inspect_model(options) : run_model(options);
}

}  // namespace plimsoll::cli
