// The only file that includes nlohmann-json, which takes long to compile.
#include <nlohmann/json.hpp>

#include "cli/report/report.h"

namespace plimsoll::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Names in models need not be UTF-8; what is not is replaced.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

const char* command_name(Command command) {
  switch (command) {
    case Command::run:
      return "run";
    case Command::plan:
      return "plan";
    case Command::inspect:
      return "inspect";
    case Command::bench:
      return "bench";
  }
  return "?";
}

Json shape_json(const Shape& shape) {
  Json array = Json::array();
  for (const std::int64_t dimension : shape.dimensions()) array.push_back(dimension);
  return array;
}

Json phases_json(const std::vector<PhaseReport>& phases) {
  Json array = Json::array();
  for (const PhaseReport& phase : phases) {
    array.push_back({{"name", phase.name},
                     {"predicted_peak_bytes", phase.predicted_peak_bytes},
                     {"kernel_peak_bytes", phase.kernel_peak_bytes},
                     {"seconds", phase.seconds}});
  }
  return array;
}

Json weights_json(const PlanReport& plan) {
  Json items = Json::array();
  for (const WeightReport& weight : plan.weights) {
    items.push_back({{"name", weight.name},
                     {"encoding", weight.encoding},
                     {"residency", weight.residency},
                     {"source_bytes", weight.source_bytes},
                     {"encoded_bytes", weight.encoded_bytes}});
  }
  return {
      {"source_bytes", plan.weights_source_bytes}, {"encoded_bytes", plan.weights_encoded_bytes},
      {"window_bytes", plan.window_bytes},         {"mapped_bytes", plan.mapped_bytes},
      {"streamed_bytes", plan.streamed_bytes},     {"items", std::move(items)}};
}

Json outputs_json(const std::vector<OutputReport>& outputs) {
  Json array = Json::array();
  for (const OutputReport& output : outputs) {
    array.push_back({{"name", output.name},
                     {"type", element_name(output.type)},
                     {"shape", shape_json(output.shape)},
                     {"file", output.file},
                     {"minimum", output.statistics.minimum},
                     {"maximum", output.statistics.maximum},
                     {"mean", output.statistics.mean},
                     {"not_numbers", output.statistics.not_numbers}});
  }
  return array;
}

Json values_json(const std::vector<ValueInfo>& values) {
  Json array = Json::array();
  for (const ValueInfo& value : values) {
    Json shape;
    if (value.dimensions) {
      shape = Json::array();
      for (const DimensionInfo& dimension : *value.dimensions) {
        if (dimension.value >= 0) {
          shape.push_back(dimension.value);
        } else {
          shape.push_back(dimension.symbol);
        }
      }
    }
    array.push_back({{"name", value.name},
                     {"type", element_name(value.element)},
                     {"sequence", value.is_sequence},
                     {"shape", std::move(shape)}});
  }
  return array;
}

}  // namespace

std::string report_json(Command command, const Report& report) {
  const PlanReport& plan = report.plan;
  Json json;
  json["command"] = command_name(command);
  json["model"] = report.model;
  json["limit_bytes"] = plan.limit_bytes;
  json["limit_source"] = plan.limit_source;
  json["base_bytes"] = plan.base_bytes;
  json["verdict"] = verdict_name(plan.verdict);
  json["stage"] = plan.stage;
  json["measures"] = plan.measures;
  json["smallest_workable_limit_bytes"] = plan.smallest_workable_limit_bytes;
  json["predicted_peak_bytes"] = plan.predicted_peak_bytes;
  json["kernel_peak_bytes"] = report.kernel_peak_bytes;
  json["cgroup_peak_bytes"] = report.cgroup_peak_bytes;
  json["phases"] = phases_json(plan.phases);
  json["weights"] = weights_json(plan);
  json["activation_bytes"] = plan.activation_bytes;
  json["load_seconds"] = report.load_seconds;
  json["run_seconds"] = report.run_seconds;
  json["threads"] = plan.threads;
  json["target"] = plan.target;
  json["outputs"] = outputs_json(report.outputs);
  if (command == Command::bench) {
    const Spread spread = report.run_seconds.empty() ? Spread{} : spread_of(report.run_seconds);
    json["median_seconds"] = spread.median;
    json["minimum_seconds"] = spread.minimum;
    json["maximum_seconds"] = spread.maximum;
  }
  return dump(json);
}

std::string inspection_json(const ModelInfo& info, const KernelMemory& memory) {
  Json json;
  json["command"] = command_name(Command::inspect);
  json["model"] = info.path;
  json["producer"] = info.producer;
  json["ir_version"] = info.ir_version;
  json["opsets"] = Json::object();
  for (const auto& [domain, version] : info.opsets) {
    json["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
  }
  json["inputs"] = values_json(info.inputs);
  json["outputs"] = values_json(info.outputs);
  json["operators"] = info.operators;
  json["unsupported"] = info.unsupported;
  std::uint64_t bytes = 0;
  Json weights = Json::array();
  for (const WeightInfo& weight : info.weights) {
    bytes += weight.source_bytes;
    weights.push_back({{"name", weight.name},
                       {"type", element_name(weight.element)},
                       {"shape", shape_json(weight.shape)},
                       {"bytes", weight.source_bytes},
                       {"source", weight.source}});
  }
  json["weight_bytes"] = bytes;
  json["weights"] = std::move(weights);
  json["kernel_peak_bytes"] = memory.peak_bytes;
  return dump(json);
}

std::string profile_json(const Report& report) {
  Json events = Json::array();
  for (const NodeProfile& node : report.profile) {
    events.push_back({{"name", node.name},
                      {"cat", node.op},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", node.begin_seconds * 1e6},
                      {"dur", node.seconds * 1e6},
                      {"args", {{"operator", node.op}, {"output_bytes", node.output_bytes}}}});
  }
  const Json json = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace plimsoll::cli
