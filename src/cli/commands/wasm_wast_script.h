// Runs one script of the specification's suite. Why it exists: it is what `plimsoll wasm wast` does
// for each file. May touch: nlohmann-json, wasm/runtime.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "wasm/runtime/engine.h"

namespace plimsoll::cli {

/// How many commands of each kind held, and which were left out and why.
struct WastTotals {
  std::map<std::string, int> passed;                          ///< by kind
  std::map<std::string, std::map<std::string, int>> skipped;  ///< by kind, by reason
  std::vector<std::string> failures;                          ///< "FILE:LINE: kind: why"

  void add(const WastTotals& other);
};

/// Throws Error(bad_input) for a file that is no script, Error(usage) when it cannot be read.
[[nodiscard]] WastTotals run_wast_script(const std::shared_ptr<wasm::Engine>& engine,
                                         const std::string& path);

}  // namespace plimsoll::cli
