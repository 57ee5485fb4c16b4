// `plimsoll wasm …`. Why it exists: guests have commands of their own, apart from those of models.
// May touch: wasm/, memory/, cli/.
#pragma once

#include <string>

#include "cli/commands/wasm_options.h"

namespace plimsoll::cli {

/// Parses and runs; `argv[0]` is "wasm". Returns the exit code; throws Error.
[[nodiscard]] int wasm(int argc, char** argv);

/// The commands. Return the exit code; throw Error.
[[nodiscard]] int wasm_inspect(const WasmOptions& options);
[[nodiscard]] int wasm_validate(const WasmOptions& options);
[[nodiscard]] int wasm_compile(const WasmOptions& options);
[[nodiscard]] int wasm_run(const WasmOptions& options);
[[nodiscard]] int wasm_wast(const WasmOptions& options);

}  // namespace plimsoll::cli
