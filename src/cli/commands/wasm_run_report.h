// What a run of a guest came to. Why it exists: the exit code alone cannot tell a guest's own 3
// from ours; docs/schemas/wasm_run.schema.json holds what is written. May touch: the standard
// library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::cli {

enum class ExitReason : std::uint8_t {
  guest,  ///< it ended by itself; the exit code is its own
  trap,   ///< it was stopped
  limit,  ///< it did not fit
  error,  ///< a fault of the files, the arguments or the machine
};

struct WasmRunReport {
  std::string file;
  ExitReason reason = ExitReason::error;
  int exit_code = 0;
  std::string message;               ///< of a trap, a refusal or a fault
  std::vector<std::string> results;  ///< of the function that was invoked
  std::uint64_t code_bytes = 0;
  double compile_seconds = 0;
  double run_seconds = 0;
  std::uint64_t base_bytes = 0;
  std::uint64_t kernel_peak_bytes = 0;
  std::uint64_t limit_bytes = 0;
};

[[nodiscard]] std::string wasm_run_json(const WasmRunReport& report);

}  // namespace plimsoll::cli
