// Memory that runs out at any point of an import leaves nothing behind: no block, no descriptor.
#include "support/failing_allocations.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>

#include "import_fixture.h"
#include "support/temporary_folder.h"
#include "tensor/import/tensor_proto.h"

namespace plimsoll::tensor::test {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t open_descriptors() {
  const fs::directory_iterator entries("/proc/self/fd");
  return std::distance(begin(entries), end(entries));
}

// Fails every allocation of `action` in turn, from the first to the last it makes.
template <typename Action>
void fail_each(Action action) {
  (void)action();  // whatever is made once and kept
  const std::ptrdiff_t descriptors = open_descriptors();
  std::int64_t number = 1;
  for (bool done = false; !done; ++number) {
    const std::int64_t before = live_allocations();
    {
      const FailingAllocations failing(number);
      try {
        (void)action();
        done = !failing.failed();
        EXPECT_TRUE(done) << "allocation " << number << " failed and nobody noticed";
      } catch (const std::bad_alloc&) {
      }
    }
    ASSERT_EQ(live_allocations(), before) << "allocation " << number;
    ASSERT_EQ(open_descriptors(), descriptors) << "allocation " << number;
  }
  EXPECT_GT(number, 10);
}

TEST(FailingImport, LeavesNothingBehind) {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.onnx");
  folder.write("data.bin", std::string(4096, '\1'));
  const GraphWriter branch =
      GraphWriter().node(NodeWriter("Neg", {"w"}, {"t"})).output("t", ElementType::f32, {"n"});
  const FunctionWriter function =
      FunctionWriter("local", "F")
          .input("a")
          .output("r")
          .node(NodeWriter("Mul", {"a", "a"}, {"r"}).name("inside a function with a long name"));
  ModelWriter()
      .function(function)
      .graph(graph_of({NodeWriter("Constant", {}, {"c"}).integers("value_ints", {1, 2, 3}),
                       NodeWriter("F", {"x"}, {"h"}).domain("local"),
                       NodeWriter("Identity", {"w"}, {"a long name of an alias of the weight"}),
                       NodeWriter("If", {"h"}, {"y"}).graph("then_branch", branch)})
                 .initializer(raw_tensor<float>("w", {300}, std::vector<float>(300, 1)))
                 .initializer(
                     external_tensor("e", ElementType::f32, {1024}, {{"location", "data.bin"}})))
      .write(path);
  fail_each([&] { return import_onnx(path); });
}

TEST(FailingImport, OfAValueLeavesNothingBehind) {
  const std::string bytes = Message()
                                .text(1, "a sequence with a name that is long")
                                .message(3, raw_tensor<float>("", {2}, {1, 2}))
                                .message(3, raw_tensor<float>("", {300}, std::vector<float>(300)))
                                .bytes();
  fail_each([&] {
    const ProtoValue value = describe_tensor_proto_bytes(
        "value.pb", std::as_bytes(std::span(bytes)), ProtoKind::sequence);
    return load_tensor(*value.tensors.at(1)).bytes;
  });
}

}  // namespace
}  // namespace plimsoll::tensor::test
