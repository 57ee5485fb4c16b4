// What a wasm command found out. Why it exists: one structure feeds the text and the JSON.
// May touch: wasm/binary, memory/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wasm/binary/module.h"

namespace plimsoll::cli {

struct WasmReport {
  std::string file;
  std::unique_ptr<const wasm::Module> module;
  std::vector<std::pair<std::uint32_t, std::string>> largest;  ///< function and its name or ""
  double seconds = 0;
  std::uint64_t base_bytes = 0;         ///< resident before the module was opened
  std::uint64_t kernel_peak_bytes = 0;  ///< VmHWM
  std::uint64_t ledger_peak_bytes = 0;  ///< the most that was claimed, without the base
  std::uint64_t description_bytes = 0;  ///< what the decoded module holds
  std::uint64_t limit_bytes = 0;
};

[[nodiscard]] std::string wasm_inspection_text(const WasmReport& report);
[[nodiscard]] std::string wasm_inspection_json(const WasmReport& report);
[[nodiscard]] std::string wasm_validation_text(const WasmReport& report);
[[nodiscard]] std::string wasm_validation_json(const WasmReport& report);

}  // namespace plimsoll::cli
