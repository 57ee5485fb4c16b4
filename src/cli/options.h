// What the command line was asked to do. Why it exists: parsing (CLI11, in one file) and doing are
// apart. May touch: the public API.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/values/value.h"
#include "plimsoll/engine.h"

namespace plimsoll::cli {

struct Options {
  std::string command;  ///< "run", "plan", "inspect", "bench"
  std::string model;
  std::string memory_limit;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> states;
  std::vector<std::string> dimensions;
  std::vector<std::string> shapes;
  int threads = 1;
  int repeat = 1;
  std::string policy = "favor-speed";
  std::string target;
  std::string image_range = "0..255";
  std::string json;
  std::string timeline;
  std::string profile;
  bool quiet = false;
};

/// Parses; returns an exit code instead when there is nothing left to do (help, usage errors).
struct Parsed {
  Options options;
  int exit_code = -1;  ///< −1: go on
};
[[nodiscard]] Parsed parse_options(int argc, char** argv);

/// Runs a command; returns the exit code. Throws Error.
[[nodiscard]] int run_command(const Options& options);

namespace exit_code {
inline constexpr int done = 0;
inline constexpr int usage = 2;
inline constexpr int bad_input = 3;
inline constexpr int does_not_fit = 4;
inline constexpr int over_limit = 5;
inline constexpr int failure = 6;
}  // namespace exit_code

}  // namespace plimsoll::cli
