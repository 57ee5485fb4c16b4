// Includes nlohmann-json, like cli/report/report_json.cpp.
#include "cli/commands/wasm_run_report.h"

#include <nlohmann/json.hpp>

namespace plimsoll::cli {
namespace {

std::string_view name_of(ExitReason reason) {
  switch (reason) {
    case ExitReason::guest:
      return "guest";
    case ExitReason::trap:
      return "trap";
    case ExitReason::limit:
      return "limit";
    case ExitReason::error:
      break;
  }
  return "error";
}

}  // namespace

std::string wasm_run_json(const WasmRunReport& report) {
  const nlohmann::ordered_json json = {{"command", "wasm run"},
                                       {"file", report.file},
                                       {"exit_reason", name_of(report.reason)},
                                       {"exit_code", report.exit_code},
                                       {"message", report.message},
                                       {"results", report.results},
                                       {"code_bytes", report.code_bytes},
                                       {"compile_seconds", report.compile_seconds},
                                       {"run_seconds", report.run_seconds},
                                       {"base_bytes", report.base_bytes},
                                       {"kernel_peak_bytes", report.kernel_peak_bytes},
                                       {"limit_bytes", report.limit_bytes}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace plimsoll::cli
