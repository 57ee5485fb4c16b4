// Runs the measuring program in a process of its own. Why it exists: see tests/probes/memory_probe.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace plimsoll::memory::test {

struct Outcome {
  int exit_code = -1;
  std::string text;

  /// The numbers at the front of the text.
  [[nodiscard]] std::vector<std::int64_t> numbers() const {
    std::istringstream stream(text);
    std::vector<std::int64_t> result;
    for (std::int64_t number = 0; stream >> number;) result.push_back(number);
    return result;
  }
};

inline Outcome run_probe(const std::string& arguments) {
  Outcome outcome;
  FILE* output = ::popen((std::string(MEMORY_PROBE) + " " + arguments).c_str(), "r");
  if (output == nullptr) return outcome;
  char buffer[512];  // NOLINT
  while (std::fgets(buffer, sizeof buffer, output) != nullptr) outcome.text += buffer;
  const int status = ::pclose(output);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

constexpr std::int64_t mebibyte = 1024 * 1024;

}  // namespace plimsoll::memory::test
