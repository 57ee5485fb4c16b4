// JSON forms of the reports. The only file that includes nlohmann-json.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/report.h"

namespace plimsoll::cli {
namespace {

using Json = nlohmann::ordered_json;

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool good =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file == nullptr || std::fclose(file) != 0 || !good) {
    throw Error(ErrorKind::failure,
                fmt::format("'{}' cannot be written: {}", path, std::strerror(errno)));
  }
}

Json plan_json(const Report& report) {
  const PlanReport& plan = report.plan;
  Json json;
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
  json["phases"] = Json::array();
  for (const PhaseReport& phase : plan.phases) {
    json["phases"].push_back({{"name", phase.name},
                              {"predicted_peak_bytes", phase.predicted_peak_bytes},
                              {"kernel_peak_bytes", phase.kernel_peak_bytes},
                              {"seconds", phase.seconds}});
  }
  Json weights;
  weights["source_bytes"] = plan.weights_source_bytes;
  weights["encoded_bytes"] = plan.weights_encoded_bytes;
  weights["window_bytes"] = plan.window_bytes;
  weights["mapped_bytes"] = plan.mapped_bytes;
  weights["streamed_bytes"] = plan.streamed_bytes;
  weights["items"] = Json::array();
  for (const WeightReport& weight : plan.weights) {
    weights["items"].push_back(
        {{"name", weight.name}, {"encoding", weight.encoding}, {"residency", weight.residency}});
  }
  json["weights"] = std::move(weights);
  json["activation_bytes"] = plan.activation_bytes;
  json["load_seconds"] = report.load_seconds;
  json["run_seconds"] = report.run_seconds;
  json["threads"] = plan.threads;
  json["target"] = plan.target;
  json["outputs"] = Json::array();
  for (const OutputReport& output : report.outputs) {
    json["outputs"].push_back({{"name", output.name},
                               {"type", element_name(output.type)},
                               {"shape", output.shape},
                               {"file", output.file}});
  }
  return json;
}

}  // namespace

void write_report(const Options& options, const Report& report) {
  if (options.json.empty()) return;
  write_text(options.json,
             plan_json(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void write_pictures(const Options& options, const Engine& engine, const Report& report) {
  if (!options.timeline.empty()) write_text(options.timeline, engine.timeline_svg());
  if (options.profile.empty()) return;
  Json events = Json::array();
  for (const NodeProfile& node : report.profile) {
    events.push_back({{"name", node.name},
                      {"cat", node.op},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", 1},
                      {"ts", node.begin_seconds * 1e6},
                      {"dur", node.seconds * 1e6},
                      {"args", {{"op", node.op}, {"output_bytes", node.output_bytes}}}});
  }
  write_text(options.profile, Json({{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}})
                                      .dump(1, ' ', false, Json::error_handler_t::replace) +
                                  "\n");
}

void write_inspection(const Options& options, const ModelInfo& info, const KernelMemory& memory) {
  const auto values = [](const std::vector<ValueInfo>& list) {
    Json array = Json::array();
    for (const ValueInfo& value : list) {
      Json dimensions = Json::array();
      if (value.dimensions) {
        for (const DimensionInfo& dimension : *value.dimensions) {
          if (dimension.value >= 0) {
            dimensions.push_back(dimension.value);
          } else {
            dimensions.push_back(dimension.symbol);
          }
        }
      }
      array.push_back({{"name", value.name},
                       {"type", element_name(value.element)},
                       {"sequence", value.is_sequence},
                       {"shape", value.dimensions ? dimensions : Json(nullptr)}});
    }
    return array;
  };
  Json json;
  json["model"] = info.path;
  json["producer"] = info.producer;
  json["ir_version"] = info.ir_version;
  json["opsets"] = Json::object();
  for (const auto& [domain, version] : info.opsets) {
    json["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
  }
  json["inputs"] = values(info.inputs);
  json["outputs"] = values(info.outputs);
  json["operators"] = info.operators;
  json["unsupported"] = info.unsupported;
  std::uint64_t bytes = 0;
  json["weights"] = Json::array();
  for (const WeightInfo& weight : info.weights) {
    bytes += weight.source_bytes;
    const auto dimensions = weight.shape.dimensions();
    json["weights"].push_back(
        {{"name", weight.name},
         {"type", element_name(weight.element)},
         {"shape", std::vector<std::int64_t>(dimensions.begin(), dimensions.end())},
         {"bytes", weight.source_bytes},
         {"source", weight.source}});
  }
  json["weight_bytes"] = bytes;
  json["kernel_peak_bytes"] = memory.peak_bytes;
  if (!options.json.empty()) {
    write_text(options.json, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    if (options.json != "-") return;
    return;
  }
  fmt::print("{} (by {}, IR version {})\n", info.path,
             info.producer.empty() ? "unknown" : info.producer, info.ir_version);
  for (const char* kind : {"inputs", "outputs"}) {
    fmt::print("{}:\n", kind);
    for (const Json& value : json[kind]) {
      fmt::print("  {}  {}  {}\n", value["name"].get<std::string>(),
                 value["type"].get<std::string>(), value["shape"].dump());
    }
  }
  fmt::print("operators:");
  for (const auto& [name, count] : info.operators) fmt::print(" {}×{}", name, count);
  fmt::print("\nweights: {} in {} tensors\n", bytes, info.weights.size());
  for (const std::string& name : info.unsupported) {
    fmt::print("not supported by this build: {}\n", name);
  }
}

}  // namespace plimsoll::cli
