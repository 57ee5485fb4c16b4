// What the kernel says of the engine's memory, in processes that are small at their start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "engine_models.h"

namespace plimsoll::engine_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t mebibyte = 1 << 20;

#ifdef PLIMSOLL_SANITIZED
#define SKIP_IF_SANITIZED() GTEST_SKIP() << "a sanitizer's own memory and malloc are not ours"
#else
#define SKIP_IF_SANITIZED() static_cast<void>(0)
#endif

struct Outcome {
  int exit_code = -1;
  std::string text;

  [[nodiscard]] std::vector<std::int64_t> numbers() const {
    std::istringstream stream(text);
    std::vector<std::int64_t> result;
    for (std::int64_t number = 0; stream >> number;) result.push_back(number);
    return result;
  }
};

Outcome run_probe(const std::string& arguments) {
  Outcome outcome;
  FILE* output = ::popen((std::string(ENGINE_PROBE) + " " + arguments).c_str(), "r");
  if (output == nullptr) return outcome;
  char buffer[512];  // NOLINT
  while (std::fgets(buffer, sizeof buffer, output) != nullptr) outcome.text += buffer;
  const int status = ::pclose(output);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(KernelMemory, TwoSessionsCostTheWeightsOnce) {
  SKIP_IF_SANITIZED();
  const ModelFile file(product_model(2048, 1024));  // 8 MiB
  const auto figures = run_probe("sessions " + file.path() + " 1 2048 2").numbers();
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_GT(figures[1] - figures[0], 8 * mebibyte);
  EXPECT_LT(figures[1] - figures[0], 13 * mebibyte);  // and pages of the program
  EXPECT_LT(figures[2] - figures[1], mebibyte);
}

TEST(KernelMemory, OfARunIsGivenBackOnRequest) {
  SKIP_IF_SANITIZED();
  const ModelFile file(product_model(16, 256));
  // y: 16384 × 256 floats, 16 MiB.
  const auto figures = run_probe("release " + file.path() + " 16384 16").numbers();
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_GT(figures[0] - figures[1], 15 * mebibyte);
}

TEST(KernelMemory, AddedByAnEngineStaysBelowItsLimit) {
  SKIP_IF_SANITIZED();
  const ModelFile file(product_model(1024, 1024));  // 4 MiB; y another 8
  const std::string arguments = "added " + file.path() + " 2048 1024 ";
  const auto free = run_probe(arguments + "0").numbers();
  ASSERT_EQ(free.size(), 2U);
  const std::int64_t smallest = free[1];
  EXPECT_GT(smallest, 12 * mebibyte);
  const Outcome tight = run_probe(arguments + std::to_string(smallest));
  ASSERT_EQ(tight.exit_code, 0) << tight.text;
  EXPECT_LE(tight.numbers().at(0), smallest);
  EXPECT_GE(tight.numbers().at(0), smallest - 4 * mebibyte);
  EXPECT_EQ(run_probe(arguments + std::to_string(smallest / 2)).exit_code, 4);
}

TEST(KernelMemory, ThatNobodyReservedEndsAnEngineThatOwnsItsProcess) {
  SKIP_IF_SANITIZED();
  const ModelFile file(product_model(64, 64));
  const std::string arguments =
      "overrun " + file.path() + " 64 64 " + std::to_string(24 * mebibyte);
  const Outcome within = run_probe(arguments + " 4");
  EXPECT_EQ(within.exit_code, 0) << within.text;
  const Outcome beyond = run_probe(arguments + " 40");
  EXPECT_EQ(beyond.exit_code, 6) << beyond.text;
  EXPECT_THAT(beyond.text, HasSubstr("the heap is exhausted"));
  EXPECT_THAT(beyond.text, HasSubstr("the last reservation was"));
}

}  // namespace
}  // namespace plimsoll::engine_test
