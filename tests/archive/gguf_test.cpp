// Reading GGUF, and files that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/irpa_bytes.h"
#include "archive/opened.h"
#include "support/temporary_folder.h"

namespace plimsoll::tensor::test {
namespace {

using ::testing::HasSubstr;

void append_string(std::string& bytes, std::string_view text) {
  append(bytes, std::uint64_t{text.size()});
  bytes += text;
}

/// Facts and descriptions of tensors, byte by byte.
class GgufBytes {
 public:
  explicit GgufBytes(std::uint32_t version = 3) : version_(version) {}
  template <class Number>
  void fact(std::string_view key, std::uint32_t type, Number value) {
    append_string(facts_, key);
    append(facts_, type);
    append(facts_, value);
    ++fact_count;
  }
  void text(std::string_view key, std::string_view value) {
    append_string(facts_, key);
    append(facts_, std::uint32_t{8});
    append_string(facts_, value);
    ++fact_count;
  }
  void array(std::string_view key, std::uint32_t type, std::uint64_t count,
             const std::string& values) {
    append_string(facts_, key);
    append(facts_, std::uint32_t{9});
    append(facts_, type);
    append(facts_, count);
    facts_ += values;
    ++fact_count;
  }
  void tensor(std::string_view name, const std::vector<std::uint64_t>& dimensions,
              std::uint32_t type, std::uint64_t offset) {
    append_string(tensors_, name);
    append(tensors_, static_cast<std::uint32_t>(dimensions.size()));
    for (const std::uint64_t dimension : dimensions) append(tensors_, dimension);
    append(tensors_, type);
    append(tensors_, offset);
    ++tensor_count;
  }
  [[nodiscard]] std::string bytes(const std::string& data, std::size_t alignment = 32) const {
    std::string file("GGUF");
    append(file, version_);
    append(file, tensor_count);
    append(file, fact_count);
    file += facts_ + tensors_;
    file.resize((file.size() + alignment - 1) / alignment * alignment);
    return file + data;
  }
  std::uint64_t fact_count = 0;
  std::uint64_t tensor_count = 0;

 private:
  std::uint32_t version_;
  std::string facts_;
  std::string tensors_;
};

class Gguf : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) { return folder_.write("a.gguf", bytes); }
  TemporaryFolder folder_;
};

TEST_F(Gguf, TensorsOfBothVersionsAreReadWithTheirDimensionsReversed) {
  for (const std::uint32_t version : {2U, 3U}) {
    GgufBytes file(version);
    file.text("general.architecture", "llama");
    file.fact("a", 10, std::uint64_t{7});
    std::string strings;
    append_string(strings, "one");
    append_string(strings, std::string(100'000, 't'));
    file.array("tokens", 8, 2, strings);
    file.array("scores", 6, 3, std::string(12, 's'));
    file.tensor("w", {2, 3}, 0, 0);
    file.tensor("q", {32, 2}, 8, 32);
    std::string data = std::string(24, 'w') + std::string(8, ' ') + std::string(68, 'q');
    const auto archive = opened(write(file.bytes(data)));
    ASSERT_EQ(archive->size(), 2U);
    EXPECT_EQ(archive->format(), ArchiveFormat::gguf);
    EXPECT_EQ(archive->entry(0).shape, (Shape{3, 2}));
    EXPECT_EQ(archive->entry(0).type, "f32");
    EXPECT_EQ(archive->entry(1).type, "q8_0");
    EXPECT_EQ(archive->entry(1).shape, (Shape{2, 32}));
    EXPECT_EQ(archive->entry(1).alignment, 32U);
    EXPECT_EQ(bytes_of(*archive, 0), std::string(24, 'w'));
    EXPECT_EQ(bytes_of(*archive, 1), std::string(68, 'q'));
  }
}

TEST_F(Gguf, AlignmentIsTakenFromTheFile) {
  GgufBytes file;
  file.fact("general.alignment", 4, std::uint32_t{256});
  file.tensor("w", {4}, 24, 256);
  const auto archive = opened(write(file.bytes(std::string(256, ' ') + "wwww", 256)));
  EXPECT_EQ(bytes_of(*archive, 0), "wwww");
  for (const std::uint32_t alignment : {0U, 3U, 48U, 1U << 31}) {
    GgufBytes wrong;
    wrong.fact("general.alignment", 4, alignment);
    EXPECT_THAT(refusal_of(write(wrong.bytes(""))), HasSubstr("alignment"));
  }
  GgufBytes wrong;
  wrong.fact("general.alignment", 10, std::uint64_t{32});
  EXPECT_THAT(refusal_of(write(wrong.bytes(""))), HasSubstr("32 bits"));
  GgufBytes unaligned;
  unaligned.tensor("w", {4}, 24, 8);
  EXPECT_THAT(refusal_of(write(unaligned.bytes(std::string(64, ' ')))), HasSubstr("multiple"));
}

TEST_F(Gguf, CountsThatLieAreRefused) {
  for (const std::uint64_t count : {std::uint64_t{2}, std::uint64_t{1000}, UINT64_MAX,
                                    UINT64_MAX / 24 + 1, std::uint64_t{1} << 61}) {
    GgufBytes file;
    file.text("key", "value");
    file.tensor("w", {4}, 24, 0);
    std::string bytes = file.bytes("wwww");
    patch(bytes, 8, count);
    (void)refusal_of(write(bytes));
    bytes = file.bytes("wwww");
    patch(bytes, 16, count);
    (void)refusal_of(write(bytes));
    GgufBytes strings;
    strings.array("tokens", 8, count, "");
    (void)refusal_of(write(strings.bytes("")));
    GgufBytes numbers;
    numbers.array("tokens", 12, count, "");
    (void)refusal_of(write(numbers.bytes("")));
  }
}

TEST_F(Gguf, WhatIsNotKnownIsNamed) {
  for (const std::uint32_t version : {0U, 1U, 4U}) {
    EXPECT_THAT(refusal_of(write(GgufBytes(version).bytes(""))), HasSubstr("version"));
  }
  EXPECT_THAT(refusal_of(write(GgufBytes(3U << 24).bytes(""))), HasSubstr("big-endian"));
  for (const std::uint32_t type : {4U, 5U, 31U, 38U, 42U, UINT32_MAX}) {
    GgufBytes file;
    file.tensor("w", {256}, type, 0);
    EXPECT_THAT(refusal_of(write(file.bytes(std::string(2048, 'w')))), HasSubstr("'w' is of type"));
  }
  GgufBytes fact;
  fact.fact("odd", 13, std::uint64_t{0});
  EXPECT_THAT(refusal_of(write(fact.bytes(""))), HasSubstr("'odd' is of type 13"));
  GgufBytes nested;
  nested.array("odd", 9, 1, std::string(64, '\0'));
  EXPECT_THAT(refusal_of(write(nested.bytes(""))), HasSubstr("array of arrays"));
}

TEST_F(Gguf, ShapesThatLieAreRefused) {
  const auto refused = [&](const std::vector<std::uint64_t>& dimensions, std::uint32_t type,
                           std::uint64_t offset = 0) {
    GgufBytes file;
    file.tensor("w", dimensions, type, offset);
    return refusal_of(write(file.bytes(std::string(64, 'w'))));
  };
  EXPECT_THAT(refused({UINT64_MAX}, 0), HasSubstr("dimension"));
  EXPECT_THAT(refused({std::uint64_t{1} << 40, std::uint64_t{1} << 40}, 0), HasSubstr("'w'"));
  EXPECT_THAT(refused({std::uint64_t{1} << 61}, 28), HasSubstr("'w'"));
  EXPECT_THAT(refused({31}, 8), HasSubstr("blocks"));
  EXPECT_THAT(refused({16, 2}, 8), HasSubstr("blocks"));
  EXPECT_THAT(refused({17}, 0), HasSubstr("cut"));
  EXPECT_THAT(refused({1}, 0, 64), HasSubstr("cut"));
  EXPECT_THAT(refused({1}, 0, UINT64_MAX - 31), HasSubstr("cut"));
  EXPECT_THAT(refused(std::vector<std::uint64_t>(9, 1), 0), HasSubstr("9 dimensions"));
}

TEST_F(Gguf, OverlapsAndDuplicatesAreRefused) {
  GgufBytes file;
  file.tensor("a", {40}, 24, 0);
  file.tensor("b", {4}, 24, 32);
  EXPECT_THAT(refusal_of(write(file.bytes(std::string(64, 'w')))), HasSubstr("overlap"));
  GgufBytes twice;
  twice.tensor("a", {4}, 24, 0);
  twice.tensor("a", {4}, 24, 32);
  EXPECT_THAT(refusal_of(write(twice.bytes(std::string(64, 'w')))), HasSubstr("twice"));
  GgufBytes named;
  named.tensor(std::string(70'000, 'n'), {4}, 24, 0);
  EXPECT_THAT(refusal_of(write(named.bytes(std::string(64, 'w')))), HasSubstr("key"));
}

TEST_F(Gguf, AFileCutAnywhereIsRefused) {
  GgufBytes file;
  file.text("general.architecture", "llama");
  file.array("scores", 6, 3, std::string(12, 's'));
  file.tensor("w", {2, 3}, 0, 0);
  const std::string bytes = file.bytes(std::string(24, 'w'));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    (void)refusal_of(write(bytes.substr(0, length)));
  }
}

}  // namespace
}  // namespace plimsoll::tensor::test
