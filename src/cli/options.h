// What the command line was asked to do. Why it exists: parsing (CLI11, in one file) and doing are
// apart. May touch: the public API.
#pragma once

#include <string>
#include <vector>

namespace plimsoll::cli {

enum class Command : unsigned char { run, plan, inspect, bench };

struct Options {
  Command command = Command::run;
  std::string model;
  std::string memory_limit;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> states;
  std::vector<std::string> dimensions;
  std::vector<std::string> shapes;
  int threads = 1;
  int repeat = 0;  ///< 0: as the command likes
  bool favor_min_peak = false;
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

}  // namespace plimsoll::cli
