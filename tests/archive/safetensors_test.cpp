// Reading safetensors, whole and sharded, and files that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/irpa_bytes.h"
#include "archive/opened.h"
#include "support/temporary_folder.h"

namespace plimsoll::tensor::test {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& data) {
  std::string bytes;
  append(bytes, std::uint64_t{header.size()});
  return bytes + header + data;
}

std::string tensor(const std::string& key, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + key + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}

class Safetensors : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) { return folder_.write("a.safetensors", bytes); }
  /// The sentence for a header with 16 bytes of data.
  std::string refused(const std::string& header) {
    return refusal_of(write(file_of(header, std::string(16, 'd'))));
  }
  TemporaryFolder folder_;
};

TEST_F(Safetensors, TensorsAreReadInTheOrderOfTheHeader) {
  const auto archive = opened(folder_.write(
      "named_otherwise", file_of(R"({"__metadata__":{"format":"pt","note":"a\"{[b"},)" +
                                     tensor("b\\u00e9", "F32", "[2,1]", "[4,12]") + "," +
                                     R"("a":{"data_offsets":[0,4],"shape":[],"dtype":"I32"},)" +
                                     tensor("none", "BF16", "[0,7]", "[4,4]") + "," +
                                     tensor("f4", "F4", "[4]", "[12,14]") + "}   ",
                                 "0123456789abcdef")));
  ASSERT_EQ(archive->size(), 4U);
  EXPECT_EQ(archive->format(), ArchiveFormat::safetensors);
  EXPECT_EQ(archive->entry(0).key, "b\u00e9");
  EXPECT_EQ(archive->entry(0).type, "f32");
  EXPECT_EQ(archive->entry(0).shape, (Shape{2, 1}));
  EXPECT_EQ(bytes_of(*archive, 0), "456789ab");
  EXPECT_EQ(archive->entry(1).shape, Shape{});
  EXPECT_EQ(bytes_of(*archive, 1), "0123");
  EXPECT_EQ(archive->entry(2).length, 0U);
  EXPECT_EQ(bytes_of(*archive, 3), "cd");
  EXPECT_EQ(archive->find("none"), std::size_t{2});
}

TEST_F(Safetensors, AnEmptyOneIsFine) {
  EXPECT_EQ(opened(write(file_of("{}", "")))->size(), 0U);
  EXPECT_EQ(opened(write(file_of(R"({"__metadata__":{}})", "")))->size(), 0U);
}

TEST_F(Safetensors, HeaderLengthsThatLieAreRefused) {
  EXPECT_THAT(refusal_of(write("1234567")), HasSubstr("fewer than 8"));
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{99'999'999}}) {
    std::string bytes;
    append(bytes, length);
    EXPECT_THAT(refusal_of(write(bytes + "{}")), HasSubstr("file ends")) << length;
  }
  for (const std::uint64_t length : {std::uint64_t{100'000'001}, UINT64_MAX, UINT64_MAX - 7}) {
    std::string bytes;
    append(bytes, length);
    EXPECT_THAT(refusal_of(write(bytes + "{}")), HasSubstr("100000000")) << length;
  }
}

TEST_F(Safetensors, OffsetsThatLieAreRefused) {
  for (const char* offsets : {"[8,4]", "[16,20]", "[0,18446744073709551615]",
                              "[18446744073709551612,18446744073709551615]"}) {
    EXPECT_THAT(refused("{" + tensor("t", "F32", "[1]", offsets) + "}"), HasSubstr("cannot be"))
        << offsets;
  }
  for (const char* offsets : {"[0]", "[]", "[0,4,8]", "[-4,0]", "[0,4.0]", "[0,1e9]", "[\"0\",4]",
                              "[[0],4]", "[0,99999999999999999999]", "null", "4"}) {
    (void)refused("{" + tensor("t", "F32", "[1]", offsets) + "}");
  }
}

TEST_F(Safetensors, SizesThatDoNotAgreeAreRefused) {
  for (const char* shape : {"[2]", "[0]", "[1,2]", "[]"}) {
    EXPECT_THAT(refused("{" + tensor("t", "F64", shape, "[0,4]") + "}"), HasSubstr("not the 4"));
  }
  EXPECT_THAT(
      refused("{" + tensor("t", "F32", "[4611686018427387904,4611686018427387904]", "[0,0]") + "}"),
      HasSubstr("'t'"));
  EXPECT_THAT(refused("{" + tensor("t", "U8", "[18446744073709551615]", "[0,0]") + "}"),
              HasSubstr("'t'"));
  EXPECT_THAT(refused("{" + tensor("t", "U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]") + "}"),
              HasSubstr("9 dimensions"));
  EXPECT_THAT(refused("{" + tensor("t", "F4", "[3]", "[0,2]") + "}"), HasSubstr("not the 2"));
  EXPECT_THAT(refused("{" + tensor("t", "F33", "[1]", "[0,4]") + "}"), HasSubstr("'F33'"));
}

TEST_F(Safetensors, OverlapsAndDuplicatesAreRefused) {
  EXPECT_THAT(refused("{" + tensor("a", "F32", "[2]", "[0,8]") + "," +
                      tensor("none", "F32", "[0]", "[5,5]") + "," +
                      tensor("b", "F32", "[1]", "[7,11]") + "}"),
              HasSubstr("'a' and 'b' overlap"));
  EXPECT_THAT(refused("{" + tensor("a", "F32", "[1]", "[0,4]") + "," +
                      tensor("a", "F32", "[1]", "[4,8]") + "}"),
              HasSubstr("'a' is there twice"));
}

TEST_F(Safetensors, WhatIsNoHeaderIsRefused) {
  for (const char* header :
       {"", "{", "[]", "1", "null", "\"t\"", "{\"t\":1}", "{\"t\":[]}", "{\"t\":{}}",
        "{\"__metadata__\":1}", "{\"__metadata__\":{\"a\":1}}", "{\"__metadata__\":{\"a\":{}}}",
        R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":1}})",
        R"({"t":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
        R"({"t":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})",
        R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0],"data_offsets":[1]}})",
        R"({"t":{"dtype":"U8","data_offsets":[0,1]}})", "{}{}", "{} x"}) {
    (void)refused(header);
  }
  EXPECT_THAT(refused(std::string(100'000, '[')), HasSubstr("form"));
  EXPECT_THAT(refused("{\"__metadata__\":{\"a\":\"" + std::string(5 << 20, 'x') + "\"}}"),
              HasSubstr("string"));
  EXPECT_THAT(refused("{\"" + std::string(70'000, 'k') +
                      R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})"),
              HasSubstr("key"));
}

TEST_F(Safetensors, AFileCutAnywhereIsRefused) {
  const std::string bytes = file_of("{" + tensor("a", "F32", "[2]", "[0,8]") + "}", "01234567");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    (void)refusal_of(write(bytes.substr(0, length)));
  }
}

TEST_F(Safetensors, ShardsAreReadThroughTheirIndex) {
  (void)folder_.write("1.safetensors", file_of("{" + tensor("a", "U8", "[2]", "[0,2]") + "," +
                                                   tensor("extra", "U8", "[1]", "[2,3]") + "}",
                                               "aax"));
  (void)folder_.write("2.safetensors",
                      file_of("{" + tensor("b", "U8", "[3]", "[0,3]") + "}", "bbb"));
  const auto archive = opened(folder_.write(
      "model.safetensors.index.json",
      R"({"metadata":{"total_size":5,"x":[1,{"y":null}]},"weight_map":{"b":"2.safetensors","a":"1.safetensors"}})"));
  ASSERT_EQ(archive->size(), 2U);
  const auto a = archive->find("a");
  const auto b = archive->find("b");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(bytes_of(*archive, *a), "aa");
  EXPECT_EQ(bytes_of(*archive, *b), "bbb");
  EXPECT_THAT(std::string(archive->entry(*b).file), HasSubstr("2.safetensors"));
}

TEST_F(Safetensors, IndicesOfShardsThatLieAreRefused) {
  (void)folder_.write("1.safetensors",
                      file_of("{" + tensor("a", "U8", "[2]", "[0,2]") + "}", "aa"));
  const auto refused_index = [&](const std::string& json) {
    return refusal_of(folder_.write("m.index.json", json));
  };
  EXPECT_THAT(refused_index(R"({"weight_map":{"b":"1.safetensors"}})"), HasSubstr("it is not"));
  EXPECT_THAT(refused_index(R"({"weight_map":{"a":"3.safetensors"}})"), HasSubstr("3.safetensors"));
  EXPECT_THAT(refused_index(R"({"weight_map":{"a":"1.safetensors","a":"1.safetensors"}})"),
              HasSubstr("twice"));
  EXPECT_THAT(refused_index("{}"), HasSubstr("weight_map"));
  for (const char* json :
       {"", "[]", "{\"weight_map\":1}", "{\"weight_map\":[]}", "{\"weight_map\":{\"a\":1}}",
        "{\"weight_map\":{\"a\":{}}}", R"({"weight_map":{"a":"../1.safetensors"}})",
        R"({"weight_map":{"a":"/etc/passwd"}})", R"({"weight_map":{"a":""}})",
        R"({"weight_map":{"a":"1.safetensors"},"weight_map":{}})"}) {
    (void)refused_index(json);
  }
}

TEST_F(Safetensors, ALargeIndexTakesMemoryInProportionAndIsClaimed) {
  std::string header = "{";
  constexpr std::size_t count = 20'000;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) header += ",";
    header += tensor("model.layers." + std::to_string(i) + ".weight", "U8", "[1,0]", "[0,0]");
  }
  const std::string path = write(file_of(header + "}", ""));
  const auto archive = opened(path);
  EXPECT_EQ(archive->size(), count);
  EXPECT_LT(archive->index_bytes(), 3 * header.size());
  const auto refused = OpenArchive::open(path, memory::Budget::root("test", 400'000));
  EXPECT_FALSE(refused.has_value());
}

}  // namespace
}  // namespace plimsoll::tensor::test
