// What import takes in memory, by the kernel's figure.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "import_fixture.h"
#include "support/temporary_folder.h"

namespace plimsoll::tensor::test {
namespace {

// Growth of VmHWM in a process that imports this model and does nothing else.
std::int64_t growth_of(const std::string& path) {
  const std::string command = std::string(IMPORT_PROBE) + " '" + path + "'";
  FILE* output = ::popen(command.c_str(), "r");
  unsigned long long before = 0;
  unsigned long long after = 0;
  const int fields = std::fscanf(output, "%llu %llu", &before, &after);
  const int status = ::pclose(output);
  EXPECT_EQ(fields, 2);
  EXPECT_EQ(status, 0);
  return static_cast<std::int64_t>(after - before);
}

// Not zeros, so that nobody can make a hole of it.
void fill(std::uint64_t offset, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>((offset + i) * 31 + 7);
  }
}

constexpr std::int64_t mebibyte = 1 << 20;

TEST(ImportMemory, AnInitialiserOf85MegabytesCostsNothing) {
#ifdef PLIMSOLL_SANITIZED
  GTEST_SKIP() << "a sanitizer's own memory hides what is measured";
#endif
  const TemporaryFolder folder;
  const std::string path = folder.file("large.onnx");
  constexpr std::int64_t elements = 85 * mebibyte / 4;
  ModelWriter()
      .graph(graph_of({NodeWriter("Add", {"x", "w"}, {"y"})})
                 .initializer(streamed_tensor("w", ElementType::f32, {elements}, fill)))
      .write(path);
  ASSERT_GT(std::filesystem::file_size(path), 85U * mebibyte);
  const auto stored = value_named(import_onnx(path)->main, "w").stored;
  std::array<std::byte, 8> expected{};
  std::array<std::byte, 8> read{};
  fill((elements - 2) * 4, expected);
  stored->read(elements - 2, 2, read.data());
  EXPECT_EQ(read, expected);
  EXPECT_LT(growth_of(path), mebibyte);
}

TEST(ImportMemory, ManyMediumInitialisersCostTheirStructure) {
#ifdef PLIMSOLL_SANITIZED
  GTEST_SKIP() << "a sanitizer's own memory hides what is measured";
#endif
  const TemporaryFolder folder;
  const std::string path = folder.file("many.onnx");
  GraphWriter graph;
  graph.input("x", ElementType::f32, {1}).output("y", ElementType::f32, {1});
  std::vector<std::string> names{"x"};
  constexpr int count = 300;
  for (int i = 0; i < count; ++i) {
    names.push_back("w" + std::to_string(i));
    graph.initializer(streamed_tensor(names.back(), ElementType::f32, {70'000}, fill));
  }
  graph.node(NodeWriter("Sum", names, {"y"}));
  ModelWriter().graph(graph).write(path);
  ASSERT_GT(std::filesystem::file_size(path), 80U * mebibyte);
  EXPECT_LT(growth_of(path), mebibyte);
}

}  // namespace
}  // namespace plimsoll::tensor::test
