// Includes nlohmann-json, like cli/report/report_json.cpp.
#include <nlohmann/json.hpp>

#include "cli/commands/wasm_report.h"
#include "wasm/binary/summary.h"

namespace plimsoll::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json sections_json(const wasm::Module& module) {
  Json array = Json::array();
  std::size_t custom = 0;
  for (const wasm::SectionRange& section : module.sections) {
    Json entry = {{"name", wasm::section_name(section.id)},
                  {"offset", section.bytes.offset},
                  {"bytes", section.bytes.size}};
    if (section.id == 0) {
      entry["custom_name"] = module.name(module.custom_sections[custom++].name);
    }
    array.push_back(std::move(entry));
  }
  return array;
}

Json imports_json(const wasm::Module& module) {
  Json array = Json::array();
  for (const wasm::Import& import : module.imports) {
    array.push_back({{"module", module.name(import.module)},
                     {"name", module.name(import.field)},
                     {"kind", wasm::external_kind_name(import.kind)},
                     {"type", wasm::describe(module, import.kind, import.index)}});
  }
  return array;
}

Json exports_json(const wasm::Module& module) {
  Json array = Json::array();
  for (const wasm::Export& entry : module.exports) {
    array.push_back({{"name", module.name(entry.name)},
                     {"kind", wasm::external_kind_name(entry.kind)},
                     {"index", entry.index},
                     {"type", wasm::describe(module, entry.kind, entry.index)}});
  }
  return array;
}

Json histogram_json(const wasm::BodySizes& sizes) {
  Json array = Json::array();
  for (std::size_t bucket = 0; bucket < wasm::BodySizes::buckets; ++bucket) {
    if (sizes.count[bucket] == 0) continue;
    array.push_back({{"up_to_bytes", 1ULL << bucket},
                     {"bodies", sizes.count[bucket]},
                     {"bytes", sizes.bytes[bucket]}});
  }
  return array;
}

Json largest_json(const WasmReport& report) {
  Json array = Json::array();
  for (const auto& [function, name] : report.largest) {
    array.push_back({{"function", function},
                     {"name", name},
                     {"bytes", report.module->functions[function].body.size}});
  }
  return array;
}

Json common_json(const WasmReport& report) {
  const wasm::BodySizes sizes = wasm::body_sizes(*report.module);
  return {{"file", report.file},
          {"file_bytes", report.module->file_bytes},
          {"functions", sizes.total_count},
          {"body_bytes", sizes.total_bytes},
          {"metadata_bytes", report.description_bytes},
          {"seconds", report.seconds},
          {"base_bytes", report.base_bytes},
          {"ledger_peak_bytes", report.ledger_peak_bytes},
          {"kernel_peak_bytes", report.kernel_peak_bytes},
          {"limit_bytes", report.limit_bytes},
          {"features", report.module->used.names()}};
}

}  // namespace

std::string wasm_validation_json(const WasmReport& report) {
  Json json = common_json(report);
  json["verdict"] = "valid";
  return dump(json);
}

std::string wasm_inspection_json(const WasmReport& report) {
  Json json = common_json(report);
  json["sections"] = sections_json(*report.module);
  json["imports"] = imports_json(*report.module);
  json["exports"] = exports_json(*report.module);
  json["body_sizes"] = histogram_json(wasm::body_sizes(*report.module));
  json["largest_bodies"] = largest_json(report);
  return dump(json);
}

}  // namespace plimsoll::cli
