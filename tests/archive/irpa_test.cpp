// Reading IRPA archives: what they hold, and every trap of the format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "archive/irpa_bytes.h"
#include "archive/opened.h"
#include "support/temporary_folder.h"

namespace plimsoll::tensor::test {
namespace {

using ::testing::HasSubstr;

class Irpa : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) { return folder_.write("a.irpa", bytes); }
  TemporaryFolder folder_;
};

TEST_F(Irpa, EveryKindOfEntryIsRead) {
  (void)folder_.write("other.bin", "0123456789");
  IrpaBytes file;
  file.splat("ones", 12, std::string("\x01\x02\x03\x04", 4));
  file.data("weight", "some bytes", "about it");
  file.external("far", "other.bin", 3, 4);
  file.data("empty", "");
  const auto archive = opened(write(file.bytes()));
  ASSERT_EQ(archive->size(), 4U);
  EXPECT_EQ(archive->format(), ArchiveFormat::irpa);
  EXPECT_EQ(archive->entry(0).key, "ones");
  EXPECT_EQ(archive->entry(0).kind, ArchiveEntryKind::splat);
  EXPECT_EQ(archive->entry(0).pattern.size(), 4U);
  EXPECT_EQ(archive->entry(0).length, 12U);
  EXPECT_EQ(archive->entry(0).file, "");
  EXPECT_EQ(archive->entry(1).alignment, 64U);
  EXPECT_EQ(archive->entry(1).offset % 64, 0U);
  EXPECT_EQ(archive->entry(1).file, archive->path());
  EXPECT_EQ(archive->metadata_of(1).length, 8U);
  EXPECT_EQ(bytes_of(*archive, 0), "\1\2\3\4\1\2\3\4\1\2\3\4");
  EXPECT_EQ(bytes_of(*archive, 1), "some bytes");
  EXPECT_EQ(archive->entry(2).kind, ArchiveEntryKind::external);
  EXPECT_EQ(bytes_of(*archive, 2), "3456");
  EXPECT_EQ(bytes_of(*archive, 3), "");
  EXPECT_EQ(archive->find("far"), std::size_t{2});
  EXPECT_EQ(archive->find("near"), std::nullopt);
}

TEST_F(Irpa, PartsOfEntriesAreRead) {
  IrpaBytes file;
  file.splat("s", 64, "abcd");
  file.data("d", "0123456789");
  const auto archive = opened(write(file.bytes()));
  std::string part(11, '\0');
  archive->read(0, 3, std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(part, "dabcdabcdab");
  std::string some(4, '\0');
  archive->read(1, 6, std::as_writable_bytes(std::span(some)));
  EXPECT_EQ(some, "6789");
  EXPECT_THROW(archive->read(1, 7, std::as_writable_bytes(std::span(some))), Error);
  EXPECT_THROW(archive->read(1, UINT64_MAX, std::as_writable_bytes(std::span(some))), Error);
}

TEST_F(Irpa, EntriesWithPaddingAreReadByTheirSize) {
  IrpaBytes file;
  std::string tail;
  append(tail, std::uint64_t{0});
  append(tail, std::uint64_t{3});
  file.data("first", "abc");
  file.entry(2, "padded", "", 64, tail, 4);  // 80 bytes, as some writers make them
  file.entry(0, "", "", 0, "skipped");
  file.splat("last", 1, "x");
  const auto archive = opened(write(file.bytes()));
  ASSERT_EQ(archive->size(), 3U);
  EXPECT_EQ(bytes_of(*archive, 1), "abc");
  EXPECT_EQ(archive->entry(2).key, "last");
}

TEST_F(Irpa, LinkedHeadersCountFromThemselves) {
  IrpaBytes first;
  first.data("a", "first");
  IrpaBytes second;
  second.data("b", "second");
  std::string bytes = first.bytes();
  bytes.resize((bytes.size() + 63) / 64 * 64);
  const std::size_t base = bytes.size();
  bytes = first.bytes(base);
  bytes.resize(base);
  bytes += second.bytes();
  const auto archive = opened(write(bytes));
  ASSERT_EQ(archive->size(), 2U);
  EXPECT_EQ(bytes_of(*archive, 0), "first");
  EXPECT_EQ(bytes_of(*archive, 1), "second");
  EXPECT_GT(archive->entry(1).offset, base);
}

TEST_F(Irpa, LinksThatLeadNowhereAreRefused) {
  IrpaBytes file;
  file.data("a", "first");
  for (const std::uint64_t next :
       {std::uint64_t{1}, std::uint64_t{87}, std::uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 87}) {
    EXPECT_THAT(refusal_of(write(file.bytes(next))), HasSubstr("link")) << next;
  }
  EXPECT_THAT(refusal_of(write(file.bytes(96))), HasSubstr("no header"));
}

TEST_F(Irpa, AFileCutAnywhereIsRefused) {
  IrpaBytes file;
  file.splat("ones", 12, "abcd");
  file.data("weight", "some bytes", "about it");
  const std::string bytes = file.bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    (void)refusal_of(write(bytes.substr(0, length)));
  }
}

TEST_F(Irpa, SegmentsBeyondTheFileAndSumsThatWrapAreRefused) {
  IrpaBytes file;
  file.data("weight", "some bytes");
  for (const std::size_t field : {40U, 48U, 56U, 64U, 72U, 80U}) {
    for (const std::uint64_t value : {UINT64_MAX, UINT64_MAX - 60, std::uint64_t{1} << 63}) {
      std::string bytes = file.bytes();
      patch(bytes, field, value);
      EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("segment")) << field;
    }
  }
}

TEST_F(Irpa, RangesOutsideOfTheirSegmentsAreRefused) {
  IrpaBytes file;
  file.data("weight", "some bytes", "about");
  const std::size_t start = file.start(0);
  for (const std::size_t field : {20U, 28U, 36U, 44U, 60U, 68U}) {
    for (const std::uint64_t value : {UINT64_MAX, UINT64_MAX - 4, std::uint64_t{1000}}) {
      std::string bytes = file.bytes();
      patch(bytes, start + field, value);
      EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("outside")) << field;
    }
  }
}

TEST_F(Irpa, EntrySizesThatLieAreRefused) {
  IrpaBytes file;
  file.splat("ones", 12, "abcd");
  file.data("weight", "some bytes");
  file.external("far", "x", 0, 1);
  for (const std::size_t entry : {0U, 1U, 2U}) {
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{59}, std::uint64_t{60},
                                     std::uint64_t{75}, UINT64_MAX, UINT64_MAX - 14}) {
      std::string bytes = file.bytes();
      patch(bytes, file.start(entry), size);
      (void)refusal_of(write(bytes));
    }
  }
}

TEST_F(Irpa, CountsThatLieAreRefused) {
  IrpaBytes file;
  file.data("weight", "some bytes");
  for (const std::uint64_t count : {std::uint64_t{2}, UINT64_MAX, std::uint64_t{1} << 60}) {
    std::string bytes = file.bytes();
    patch(bytes, 32, count);
    EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("promises")) << count;
  }
}

TEST_F(Irpa, PatternsThatDoNotFitAreRefused) {
  for (const int length : {0, 3, 5, 17, 255}) {
    IrpaBytes file;
    file.splat("ones", 0, "abcd");
    std::string bytes = file.bytes();
    patch(bytes, file.start(0) + 84, static_cast<std::uint8_t>(length));
    EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("pattern")) << length;
  }
  IrpaBytes file;
  file.splat("ones", 10, "abcd");
  EXPECT_THAT(refusal_of(write(file.bytes())), HasSubstr("divide"));
}

TEST_F(Irpa, VersionsMagicAndKindsThatAreNotKnownAreNamed) {
  IrpaBytes file;
  file.data("weight", "some bytes");
  std::string bytes = file.bytes();
  patch(bytes, 4, std::uint16_t{1});
  EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("version 1.0"));
  bytes = file.bytes();
  patch(bytes, 8, std::uint64_t{96});
  EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("96"));
  bytes = file.bytes();
  bytes[0] = 'J';
  EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("no parameter archive"));
  bytes = file.bytes();
  patch(bytes, file.start(0) + 8, std::uint32_t{4});
  EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("kind 4"));
  bytes = file.bytes();
  patch(bytes, file.start(0) + 52, std::uint64_t{48});
  EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("power of two"));
}

TEST_F(Irpa, TwoEntriesOfOneKeyAreRefused) {
  IrpaBytes file;
  file.data("weight", "some bytes");
  file.data("other", "some bytes");
  file.splat("weight", 4, "abcd");
  EXPECT_THAT(refusal_of(write(file.bytes())), HasSubstr("'weight' is there twice"));
}

TEST_F(Irpa, NamesThatOverlapAreRefusedBeforeTheyFillMemory) {
  IrpaBytes file;
  file.data(std::string(40000, 'n'), "x");
  for (int i = 0; i < 100; ++i) file.data("", "x");
  std::string bytes = file.bytes();
  for (std::size_t i = 1; i < 101; ++i) {
    patch(bytes, file.start(i) + 20, std::uint64_t{i});
    patch(bytes, file.start(i) + 28, std::uint64_t{39000});
  }
  EXPECT_THAT(refusal_of(write(bytes)), HasSubstr("overlap"));
}

TEST_F(Irpa, ExternalFilesLieBelowTheFolderAndHoldTheirRange) {
  (void)folder_.write("other.bin", "0123456789");
  for (const char* path : {"../other.bin", "/etc/passwd", "missing.bin"}) {
    IrpaBytes file;
    file.external("far", path, 0, 4);
    const auto archive = opened(write(file.bytes()));  // listing needs no other file
    EXPECT_THROW((void)bytes_of(*archive, 0), Error) << path;
  }
  IrpaBytes file;
  file.external("far", "other.bin", 8, 4);
  EXPECT_THROW((void)bytes_of(*opened(write(file.bytes())), 0), Error);
  IrpaBytes wrapping;
  wrapping.external("far", "other.bin", UINT64_MAX, 4);
  EXPECT_THAT(refusal_of(write(wrapping.bytes())), HasSubstr("range"));
}

TEST_F(Irpa, AMillionEntriesTakeMemoryInProportion) {
  IrpaBytes file;
  constexpr std::size_t count = 200'000;
  for (std::size_t i = 0; i < count; ++i) file.splat("layer." + std::to_string(i), 4, "abcd");
  const std::string bytes = file.bytes();
  const std::string path = write(bytes);
  const auto budget = memory::Budget::root("test", memory::Budget::unlimited);
  const auto archive = OpenArchive::open(path, budget).value();
  ASSERT_EQ(archive->size(), count);
  EXPECT_EQ(archive->find("layer.123456"), std::size_t{123456});
  EXPECT_LT(archive->index_bytes(), 2 * bytes.size());
  EXPECT_EQ(budget->used(), archive->index_bytes());
  const auto refused = OpenArchive::open(path, memory::Budget::root("test", bytes.size() / 4));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().purpose, HasSubstr("index"));
}

TEST_F(Irpa, PathsOfExternalFilesAreClaimedToo) {
  IrpaBytes file;
  for (int i = 0; i < 10'000; ++i) {
    const std::string number = std::to_string(i);
    file.external("w" + number, "folder/file." + number, 0, 1);
  }
  const std::string path = write(file.bytes());
  const auto archive = opened(path);
  EXPECT_GT(archive->index_bytes(), 10'000U * 350);
  EXPECT_FALSE(OpenArchive::open(path, memory::Budget::root("test", 2 << 20)).has_value());
}

TEST_F(Irpa, TheIndexOfAHugeFileIsReadAlone) {
  IrpaBytes file;
  file.data("weight", "some bytes");
  const std::uint64_t huge = std::uint64_t{400} << 30;
  std::string bytes = file.bytes();
  patch(bytes, 80, huge);                  // the storage segment
  patch(bytes, file.start(0) + 68, huge);  // the entry
  const std::string path = write(bytes);
  std::error_code failed;
  std::filesystem::resize_file(path, huge + 4096, failed);  // sparse
  if (failed) GTEST_SKIP() << "no sparse files here: " << failed.message();
  const auto archive = opened(path);
  EXPECT_EQ(archive->entry(0).length, huge);
  EXPECT_LT(archive->index_bytes(), 1U << 20);
  std::string some(4, 'x');
  archive->read(0, huge - 4, std::as_writable_bytes(std::span(some)));
  EXPECT_EQ(some, std::string(4, '\0'));
}

}  // namespace
}  // namespace plimsoll::tensor::test
