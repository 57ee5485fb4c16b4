// .pb files: tensors, sequences, optionals.
#include <gmock/gmock.h>

#include "import_fixture.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"
#include "tensor/import/tensor_proto.h"

namespace plimsoll::tensor::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ProtoValue describe(const Message& message, std::optional<ProtoKind> kind = std::nullopt) {
  const std::string bytes = message.bytes();
  return describe_tensor_proto_bytes("value.pb", std::as_bytes(std::span(bytes)), kind);
}
void expect_bad(const Message& message, const std::vector<std::string>& parts,
                ErrorKind error = ErrorKind::bad_input,
                std::optional<ProtoKind> kind = std::nullopt) {
  expect_error([&] { return describe(message, kind); }, error, parts);
}
std::vector<float> floats_of(const StoredTensor& stored) {
  const LoadedTensor loaded = load_tensor(stored);
  const auto span = loaded.view().span<float>();
  return {span.begin(), span.end()};
}

// SequenceProto and OptionalProto: 1 name, 2 elem_type (1 tensor, 3 sequence), 3, 5.
Message sequence_of(const std::vector<Message>& tensors) {
  Message sequence;
  sequence.text(1, "list").integer(2, 1);
  for (const Message& tensor : tensors) sequence.message(3, tensor);
  return sequence;
}

TEST(TensorProtoFile, HoldsATensor) {
  for (const auto kind : {std::optional<ProtoKind>(), std::optional(ProtoKind::tensor)}) {
    const ProtoValue value = describe(raw_tensor<float>("a", {2, 1}, {1, 2}), kind);
    EXPECT_EQ(value.kind, ProtoKind::tensor);
    EXPECT_EQ(value.name, "a");
    EXPECT_TRUE(value.has_value);
    EXPECT_FALSE(value.is_sequence);
    ASSERT_EQ(value.tensors.size(), 1U);
    const LoadedTensor loaded = load_tensor(*value.tensors[0]);
    EXPECT_EQ(loaded.name, "a");
    EXPECT_EQ(loaded.type, ElementType::f32);
    EXPECT_EQ(loaded.shape, Shape({2, 1}));
    EXPECT_THAT(floats_of(*value.tensors[0]), ElementsAre(1, 2));
  }
}

TEST(TensorProtoFile, LargeOnesAreLeftInTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("value.pb");
  float_tensor("a", {5000}, std::vector<float>(5000, 2.5F)).write(path);
  const ProtoValue value = describe_tensor_proto(path);
  EXPECT_TRUE(std::holds_alternative<FileRange>(value.tensors[0]->source));
  EXPECT_EQ(floats_of(*value.tensors[0]), std::vector<float>(5000, 2.5F));
}

TEST(TensorProtoFile, HoldsASequence) {
  const Message message =
      sequence_of({raw_tensor<float>("", {1}, {1}), raw_tensor<float>("", {2}, {2, 3})});
  for (const auto kind : {std::optional<ProtoKind>(), std::optional(ProtoKind::sequence)}) {
    const ProtoValue value = describe(message, kind);
    EXPECT_EQ(value.kind, ProtoKind::sequence);
    EXPECT_TRUE(value.is_sequence);
    EXPECT_EQ(value.name, "list");
    ASSERT_EQ(value.tensors.size(), 2U);
    EXPECT_THAT(floats_of(*value.tensors[1]), ElementsAre(2, 3));
  }
  EXPECT_THAT(describe(sequence_of({}), ProtoKind::sequence).tensors, IsEmpty());
  EXPECT_THAT(describe(Message(), ProtoKind::sequence).tensors, IsEmpty());
}

TEST(TensorProtoFile, HoldsAnOptional) {
  Message some;
  some.integer(2, 1).message(3, raw_tensor<float>("", {1}, {7}));
  const ProtoValue value = describe(some, ProtoKind::optional);
  EXPECT_EQ(value.kind, ProtoKind::optional);
  EXPECT_TRUE(value.has_value);
  EXPECT_FALSE(value.is_sequence);
  EXPECT_THAT(floats_of(*value.tensors.at(0)), ElementsAre(7));

  Message list;
  list.integer(2, 3).message(5, sequence_of({raw_tensor<float>("", {1}, {8})}));
  for (const auto kind : {std::optional<ProtoKind>(), std::optional(ProtoKind::optional)}) {
    const ProtoValue held = describe(list, kind);
    EXPECT_EQ(held.kind, ProtoKind::optional);
    EXPECT_TRUE(held.is_sequence);
    EXPECT_THAT(floats_of(*held.tensors.at(0)), ElementsAre(8));
  }
  EXPECT_FALSE(describe(Message(), ProtoKind::optional).has_value);
  EXPECT_FALSE(describe(Message().integer(2, 1), ProtoKind::optional).has_value);
}

TEST(TensorProtoFile, WhatIsUnsupportedIsNamed) {
  expect_bad(string_tensor("s", {1}, {"a"}), {"value.pb", "'s'", "strings"},
             ErrorKind::unsupported);
  expect_bad(raw_bytes_tensor("c", DataType(14), {1}, "abcdefgh"), {"'c'", "complex64"},
             ErrorKind::unsupported);
  Message maps;
  maps.integer(2, 4).message(6, Message());
  expect_bad(maps, {"maps"}, ErrorKind::unsupported, ProtoKind::sequence);
}

TEST(TensorProtoFile, BadOnesAreNamed) {
  const Message tensor = raw_tensor<float>("a", {400}, std::vector<float>(400, 1));
  const std::string bytes = tensor.bytes();
  for (std::size_t length = 0; length < bytes.size(); length += length < 40 ? 1 : 97) {
    expect_bad(Message().raw(bytes.substr(0, length)), {"value.pb"}, ErrorKind::bad_input,
               ProtoKind::tensor);
  }
  expect_bad(Message(), {"empty"});
  expect_bad(Message().raw("version https://git-lfs.github.com/spec/v1\n"), {"Git LFS"});
  expect_bad(Message().raw("<html>"), {"web page"});
  expect_bad(raw_tensor<float>("a", {3}, {1, 2}), {"'a'", "12 bytes", "has 8"});
  expect_bad(raw_tensor<float>("a", {-3}, {1, 2}), {"'a'", "negative"});
  expect_bad(raw_tensor<float>("a", {1LL << 40, 1LL << 40}, {1}), {"'a'", "2^62"});
  expect_bad(external_tensor("a", ElementType::f32, {1}, {{"location", "data.bin"}}),
             {"'a'", "data.bin"});
  Message two;
  two.message(3, raw_tensor<float>("", {1}, {7})).message(3, raw_tensor<float>("", {1}, {7}));
  expect_bad(two, {"two values"}, ErrorKind::bad_input, ProtoKind::optional);
  const TemporaryFolder folder;
  expect_error([&] { return describe_tensor_proto(folder.file("gone.pb")); }, ErrorKind::bad_input,
               {"gone.pb", "does not exist"});
}

TEST(TensorProtoFile, TheStandardsFilesRead) {
  const auto folder = test_data_folder();
  if (!folder) {
    GTEST_SKIP() << "the ONNX test data are not installed (Debian: libonnx-testdata); set "
                    "PLIMSOLL_ONNX_TEST_DATA to their folder";
  }
  int read = 0;
  std::vector<std::string> unsupported;
  for (const auto& entry : fs::recursive_directory_iterator(*folder)) {
    if (entry.path().extension() != ".pb") continue;
    try {
      const ProtoKind optional_or_any = ProtoKind::optional;
      const ProtoValue value = fs::file_size(entry.path()) == 0
                                   ? describe_tensor_proto(entry.path().string(), optional_or_any)
                                   : describe_tensor_proto(entry.path().string());
      for (const auto& tensor : value.tensors) {
        EXPECT_EQ(load_tensor(*tensor).bytes.size(), tensor->bytes()) << entry.path();
      }
      ++read;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.message();
      EXPECT_NE(error.message().find("strings"), std::string::npos) << error.message();
      unsupported.push_back(entry.path().string());
    }
  }
  EXPECT_GT(read, 3000);
  EXPECT_LT(unsupported.size(), 60U);
}

}  // namespace
}  // namespace plimsoll::tensor::test
