// Files that are damaged, are something else, or lie: each refused with a sentence that names the
// thing and the cause, and none by running out of memory or stack.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <limits>

#include "import_fixture.h"
#include "support/temporary_folder.h"

namespace plimsoll::tensor::test {
namespace {

constexpr ElementType f32 = ElementType::f32;

void expect_bad(const GraphWriter& graph, const std::vector<std::string>& parts) {
  expect_error([&] { return import_graph(graph); }, ErrorKind::bad_input, parts);
}
void expect_bad_bytes(const std::string& bytes, const std::vector<std::string>& parts) {
  expect_error([&] { return import_bytes(bytes); }, ErrorKind::bad_input, parts);
}
void expect_bad_tensor(const Message& tensor, const std::vector<std::string>& parts) {
  expect_bad(graph_of({NodeWriter("Op", {"x", "w"}, {"y"})}).initializer(tensor), parts);
}

std::string good_model() {
  return ModelWriter()
      .producer("tests")
      .graph(graph_of({NodeWriter("Add", {"x", "w"}, {"y"}).name("add").integer("axis", 1)})
                 .initializer(raw_tensor<float>("w", {400}, std::vector<float>(400, 1))))
      .bytes();
}

TEST(BadModel, CutAnywhereIsRefused) {
  const std::string model = good_model();
  ASSERT_NO_THROW((void)import_bytes(model));
  for (std::size_t length = 0; length < model.size(); ++length) {
    try {
      (void)import_bytes(model.substr(0, length));
      ADD_FAILURE() << "cut at " << length << " of " << model.size();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input) << error.message();
      EXPECT_NE(error.message().find("'model.onnx'"), std::string::npos) << error.message();
    }
  }
}

TEST(BadModel, AnyByteChangedNeverCrashes) {
  const std::string model = good_model();
  for (std::size_t at = 0; at < model.size(); ++at) {
    if (at > 150 && at + 100 < model.size()) continue;  // inside of the payload
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string bytes = model;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      try {
        (void)import_bytes(bytes);
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::internal) << error.message();
      }
    }
  }
}

TEST(BadModel, OtherFilesAreNamedAsWhatTheyAre) {
  expect_bad_bytes("", {"empty"});
  expect_bad_bytes("version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12345\n",
                   {"Git LFS pointer", "git lfs pull"});
  expect_bad_bytes("ir_version: 8\ngraph {\n  node { op_type: \"Relu\" }\n}\n",
                   {"text", "protobuf"});
  expect_bad_bytes("<!DOCTYPE html>\n<html><body>404</body></html>", {"web page"});
  expect_bad_bytes("  {\"error\": \"not found\"}", {"JSON"});
  expect_bad_bytes("[1, 2]", {"JSON"});
  expect_bad_bytes(" \n\n", {"blank"});
  expect_bad_bytes(std::string("PK\x03\x04\x14\0\0\0", 8), {"zip archive"});
  expect_bad_bytes("\x1f\x8b\x08 compressed", {"gzip"});
  expect_bad_bytes("GGUF\x03 something", {"GGUF"});
  expect_bad_bytes("\x93NUMPY\x01", {"'model.onnx'"});
  expect_bad_bytes(std::string(4096, '\0'), {"'model.onnx'", "byte"});
  expect_bad_bytes(std::string(4096, '\xff'), {"'model.onnx'", "byte"});
}

TEST(BadModel, PathsThatAreNoFileAreNamed) {
  const TemporaryFolder folder;
  expect_error([&] { return import_onnx(folder.file("gone.onnx")); }, ErrorKind::bad_input,
               {"gone.onnx", "does not exist"});
  expect_error([&] { return import_onnx(folder.path().string()); }, ErrorKind::bad_input,
               {"directory"});
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  expect_error([&] { return import_onnx(folder.file("pipe")); }, ErrorKind::bad_input,
               {"regular file"});
  expect_error([&] { return import_onnx(folder.write("model.onnx", "")); }, ErrorKind::bad_input,
               {"model.onnx", "empty"});
}

TEST(BadModel, WithoutAGraphIsNoModel) {
  expect_bad_bytes(Message().integer(1, 8).text(2, "tool \x01").bytes(), {"no graph"});
  expect_error([] { return import_model(ModelWriter().graph(graph_of({})).graph(graph_of({}))); },
               ErrorKind::bad_input, {"two graphs"});
}

TEST(BadModel, LengthsThatWrapAreRefused) {
  for (const std::uint64_t length :
       {std::uint64_t{1} << 20, std::uint64_t{1} << 32, std::uint64_t{1} << 63,
        std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max() - 8}) {
    // A graph, a node's name, a raw payload of such a length.
    expect_bad_bytes(Message().integer(1, 8).header(7, length).raw("abc").bytes(), {"cut"});
    expect_bad_bytes(
        Message().message(7, Message().message(1, Message().header(3, length))).bytes(), {"cut"});
    expect_bad_bytes(
        Message().message(7, Message().message(5, Message().header(9, length))).bytes(), {"cut"});
  }
  expect_bad_bytes(Message().raw(std::string(11, '\x80')).bytes(), {"10 bytes"});
}

TEST(BadModel, LongNamesAreRefused) {
  const std::string name(70'000, 'n');
  expect_bad(graph_of({NodeWriter("Op", {"x"}, {"y"}).name(name)}), {"70000", "65536"});
}

TEST(BadModel, WrongWireTypesAreRefused) {
  expect_bad_bytes(Message().text(1, "eight").message(7, graph_of({}).message()).bytes(),
                   {"field 1", "wire type"});
  expect_bad_bytes(Message().integer(7, 1).bytes(), {"field 7"});
  // Groups are no part of ONNX.
  expect_bad_bytes(Message().raw("\x9b\x06").bytes(), {"wire type 3"});
}

TEST(BadModel, DeepNestingIsRefusedBeforeTheStackIs) {
  Message graph;
  graph.text(2, "innermost");
  for (int level = 0; level < 2000; ++level) {
    Message attribute;
    attribute.text(1, "body").message(6, graph);
    Message node;
    node.text(4, "If").message(5, attribute);
    Message outer;
    outer.message(1, node);
    graph = outer;
  }
  expect_bad_bytes(Message().message(7, graph).bytes(), {"100 levels"});

  Message type = tensor_type(f32, {1});
  for (int level = 0; level < 2000; ++level) type = sequence_type(type);
  expect_bad(GraphWriter().input("x", type), {"100 levels"});
}

TEST(BadModel, ManyTinyNodesAreStoppedByTheirMemory) {
  // Five bytes each in the file, some hundred in memory: not refused by count, but by what they
  // take.
  std::string nodes;
  for (int i = 0; i < 1'500'000; ++i) nodes += std::string("\x0a\x03\x22\x01N", 5);
  expect_error([&] { return import_bytes(Message().message(7, Message().raw(nodes)).bytes()); },
               ErrorKind::unsupported, {"256 MiB"});
}

TEST(BadGraph, CyclesNameANodeOnThem) {
  expect_bad(graph_of({NodeWriter("A", {"x"}, {"a"}).name("before"),
                       NodeWriter("B", {"a", "d"}, {"b"}).name("one"),
                       NodeWriter("C", {"b"}, {"c"}).name("two"),
                       NodeWriter("D", {"c"}, {"d"}).name("three"),
                       NodeWriter("E", {"d"}, {"y"}).name("after")}),
             {"cycle", "B 'one'", "'b'"});
  expect_bad(graph_of({NodeWriter("A", {"y"}, {"y"}).name("self")}), {"cycle", "A 'self'", "'y'"});
}

TEST(BadGraph, UndefinedNamesAreNamed) {
  expect_bad(graph_of({NodeWriter("A", {"ghost"}, {"y"}).name("reader")}),
             {"'ghost'", "A 'reader'", "nothing defines"});
  expect_bad(graph_of({NodeWriter("A", {"ghost"}, {"y"})}), {"A that makes 'y'"});
  expect_bad(graph_of({NodeWriter("A", {"x"}, {"z"})}), {"output 'y'", "nothing defines"});
  expect_bad(GraphWriter().output("", f32, {}), {"output ''"});
  // value_info declares, it does not define.
  expect_bad(graph_of({NodeWriter("A", {"v"}, {"y"})}).value_info("v", f32, {1}), {"'v'"});
}

TEST(BadGraph, NamesDefinedTwiceAreNamed) {
  expect_bad(graph_of({NodeWriter("A", {"x"}, {"y"}), NodeWriter("B", {"x"}, {"y"})}),
             {"'y'", "twice"});
  expect_bad(graph_of({NodeWriter("A", {"x"}, {"y", "y"})}), {"'y'", "twice"});
  expect_bad(graph_of({NodeWriter("A", {"x"}, {"x"})}), {"'x'", "twice"});
  expect_bad(
      graph_of({NodeWriter("A", {"x"}, {"w"})}).initializer(raw_tensor<float>("w", {1}, {1})),
      {"'w'", "twice"});
  const Message weight = raw_tensor<float>("w", {1}, {1});
  expect_bad(graph_of({}).initializer(weight).initializer(weight), {"'w'", "twice"});
  expect_bad(graph_of({}).input("x", f32, {}), {"'x'", "twice"});
  expect_bad(graph_of({}).initializer(weight).input("w", f32, {1}).input("w", f32, {1}),
             {"'w'", "twice"});
}

TEST(BadGraph, NodesAndAttributesAreChecked) {
  expect_bad(graph_of({NodeWriter("", {"x"}, {"y"}).name("blank")}), {"'blank'", "no operator"});
  expect_bad(graph_of({NodeWriter("A", {"x"}, {"y"}).integer("k", 1).real("k", 2)}),
             {"'k'", "twice"});
  expect_bad(graph_of({NodeWriter("A", {"x"}, {"y"}).integer("", 1)}), {"no name"});
  expect_bad(
      graph_of({NodeWriter("A", {"x"}, {"y"}).attribute(Message().text(1, "t").integer(20, 4))}),
      {"'t'", "tensor", "holds none"});
  expect_bad(
      graph_of({NodeWriter("A", {"x"}, {"y"}).attribute(Message().text(1, "g").integer(20, 5))}),
      {"'g'", "graph", "holds none"});
  expect_bad(graph_of({}).initializer(raw_tensor<float>("", {1}, {1})), {"no name"});
  expect_bad(GraphWriter().input("", f32, {}), {"no name"});
}

TEST(BadGraph, OpsetsAreChecked) {
  const auto with = [](std::int64_t version) {
    return [version] { return import_model(ModelWriter().opset("", version).graph(graph_of({}))); };
  };
  expect_error(with(-1), ErrorKind::bad_input, {"version -1"});
  expect_error(with(std::int64_t{1} << 40), ErrorKind::bad_input, {"version"});
  expect_error(
      [] {
        return import_model(ModelWriter().opset("", 12).opset("ai.onnx", 13).graph(graph_of({})));
      },
      ErrorKind::bad_input, {"two versions", "12", "13"});
}

TEST(BadTensor, ShapesAndTypesAreChecked) {
  expect_bad_tensor(raw_tensor<float>("w", {-1}, {1}), {"'w'", "negative"});
  expect_bad_tensor(raw_tensor<float>("w", {std::numeric_limits<std::int64_t>::min()}, {1}),
                    {"'w'", "negative"});
  expect_bad_tensor(raw_tensor<float>("w", {1LL << 32, 1LL << 32}, {1}), {"'w'", "2^62"});
  expect_bad_tensor(raw_tensor<float>("w", {1LL << 61}, {1}), {"'w'", "2^62"});
  expect_bad_tensor(raw_tensor<float>("w", {0, 1LL << 40, 1LL << 40}, {}), {"'w'", "2^62"});
  expect_bad_tensor(raw_bytes_tensor("w", DataType(0), {1}, "abcd"), {"'w'", "type 0"});
  expect_bad_tensor(raw_bytes_tensor("w", DataType(99), {1}, "abcd"), {"'w'", "type 99"});
  expect_bad_tensor(raw_bytes_tensor("w", DataType(-1), {1}, "abcd"), {"'w'", "type -1"});
  expect_bad_tensor(tensor_header("w", f32, Dimensions(2000, 1)), {"1024 dimensions"});
}

TEST(BadTensor, LengthsAreChecked) {
  expect_bad_tensor(raw_tensor<float>("w", {3}, {1, 2}), {"'w'", "12 bytes", "has 8"});
  expect_bad_tensor(raw_tensor<float>("w", {1}, {1, 2}), {"'w'", "4 bytes", "has 8"});
  expect_bad_tensor(raw_tensor<float>("w", {600}, std::vector<float>(599)), {"'w'", "2400"});
  expect_bad_tensor(tensor_header("w", f32, {1LL << 40}), {"'w'", "has 0"});
  expect_bad_tensor(float_tensor("w", {3}, {1, 2}), {"'w'", "has 8"});
  // Varints: too few, too many, the last one cut, and none for a large shape.
  expect_bad_tensor(varint_tensor("w", ElementType::i64, {3}, {1, 2}), {"'w'", "3 values"});
  expect_bad_tensor(varint_tensor("w", ElementType::i64, {1}, {1, 2}), {"'w'", "has 2"});
  expect_bad_tensor(varint_tensor("w", ElementType::i64, {1LL << 50}, {1, 2}), {"'w'"});
  expect_bad_tensor(tensor_header("w", ElementType::i64, {2}).text(7, "\x01\x02\x80"), {"'w'"});
  expect_bad_tensor(
      varint_tensor("w", ElementType::i64, {3000}, std::vector<std::int64_t>(2000, 1)), {"'w'"});
  expect_bad_tensor(varint_tensor("w", ElementType::i64, {100}, std::vector<std::int64_t>(2000, 1)),
                    {"'w'"});
}

TEST(BadTensor, LargeVarintsThatLieAreFoundWhenRead) {
  // 2000 bytes could be 1500 numbers; that they are not shows only in the reading.
  const auto model =
      import_graph(graph_of({NodeWriter("Op", {"x", "w"}, {"y"})})
                       .initializer(varint_tensor("w", ElementType::i64, {1500},
                                                  std::vector<std::int64_t>(1000, 200))));
  std::vector<std::int64_t> values(1500);
  expect_error(
      [&] {
        value_named(model->main, "w")
            .stored->read(0, 1500, reinterpret_cast<std::byte*>(values.data()));
        return 0;
      },
      ErrorKind::bad_input, {"'w'", "1000", "1500"});
}

TEST(BadTensor, ValuesMustSuitTheType) {
  expect_bad_tensor(tensor_header("w", f32, {1}).text(7, "\x01"), {"'w'", "f32", "field 7"});
  expect_bad_tensor(tensor_header("w", ElementType::i64, {1}).text(4, "abcd"),
                    {"'w'", "i64", "field 4"});
  expect_bad_tensor(tensor_header("w", f32, {1}).text(4, "abcd").text(9, "abcd"), {"'w'", "twice"});
}

TEST(BadTensor, AFileThatShrinksIsNoticed) {
  const TemporaryFolder folder;
  const std::string path = folder.write("model.onnx", good_model());
  const auto model = import_onnx(path);
  std::filesystem::resize_file(path, 100);
  std::vector<float> values(400);
  expect_error(
      [&] {
        value_named(model->main, "w")
            .stored->read(0, 400, reinterpret_cast<std::byte*>(values.data()));
        return 0;
      },
      ErrorKind::bad_input, {"model.onnx", "cut"});
}

TEST(BadDeclaration, DimensionsAreChecked) {
  expect_bad(GraphWriter().input("x", f32, {-2}), {"-2"});
  expect_bad(GraphWriter().input("x", f32, {1LL << 40, 1LL << 40}), {"2^62"});
  const auto model = import_graph(GraphWriter().input("x", f32, {-1}).output("x", f32, {}));
  EXPECT_EQ((*value_named(model->main, "x").declared->dimensions)[0].value, -1);
}

}  // namespace
}  // namespace plimsoll::tensor::test
