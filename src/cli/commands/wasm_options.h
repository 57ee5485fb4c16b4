// What `plimsoll wasm` was asked to do. Why it exists: parsing and doing are apart.
// May touch: the standard library.
#pragma once

#include <string>
#include <vector>

namespace plimsoll::cli {

enum class WasmCommand : unsigned char { inspect, validate, compile, run, wast };

struct WasmOptions {
  WasmCommand command = WasmCommand::inspect;
  std::string file;
  std::vector<std::string> files;  ///< of wast
  std::string features = "3.0";
  std::string memory_limit;              ///< empty: what the machine or its cgroup leaves
  std::string json;                      ///< empty: text
  std::string invoke;                    ///< of run; empty: `_start`
  std::string stack_size;                ///< of run; empty: as the runtime likes
  std::vector<std::string> environment;  ///< of run: NAME=VALUE
  std::vector<std::string> directories;  ///< of run: HOST or HOST::GUEST
  std::vector<std::string> arguments;    ///< of run
  bool quiet = false;
  bool explicit_bounds = false;
  bool unknown_imports_trap = false;  ///< of run
};

struct WasmParsed {
  WasmOptions options;
  int exit_code = -1;  ///< −1: go on
};
[[nodiscard]] WasmParsed parse_wasm_options(int argc, char** argv);

}  // namespace plimsoll::cli
