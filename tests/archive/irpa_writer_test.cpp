// Writing IRPA: what is written is read back, at any position, and appears whole or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "archive/irpa_bytes.h"
#include "archive/opened.h"
#include "support/temporary_folder.h"
#include "tensor/archive/entry_facts.h"
#include "tensor/archive/file_window.h"
#include "tensor/archive/irpa_writer.h"

namespace plimsoll::tensor::test {
namespace {

using ::testing::HasSubstr;

ArchiveEntry data(std::string_view key, std::uint64_t length, std::uint64_t alignment = 0) {
  ArchiveEntry entry;
  entry.key = key;
  entry.length = length;
  entry.alignment = alignment;
  return entry;
}

class IrpaWriting : public ::testing::Test {
 protected:
  std::unique_ptr<IrpaWriter> writer(const std::vector<ArchiveEntry>& entries) {
    return IrpaWriter::create(
               path_, entries.size(), [&](std::size_t number) { return entries[number]; },
               *memory::Budget::root("test", memory::Budget::unlimited))
        .value();
  }
  std::string refused(const std::vector<ArchiveEntry>& entries) {
    try {
      (void)writer(entries);
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::internal);
      return error.message();
    }
    ADD_FAILURE() << "it was taken";
    return "";
  }
  static void write(const IrpaWriter& writer, std::size_t number, std::uint64_t offset,
                    std::string_view text) {
    writer.write(number, offset, std::as_bytes(std::span(text)));
  }
  TemporaryFolder folder_;
  std::string path_ = folder_.file("a.irpa");
};

TEST_F(IrpaWriting, WhatIsWrittenIsReadBack) {
  const std::array<std::byte, 2> pattern = {std::byte{1}, std::byte{2}};
  ArchiveEntry splat;
  splat.key = "splat";
  splat.kind = ArchiveEntryKind::splat;
  splat.type = "f16";
  splat.shape = Shape{3};
  splat.length = 6;
  splat.pattern = pattern;
  ArchiveEntry typed = data("typed", 8);
  typed.type = "f32";
  typed.shape = Shape{2, 1};
  ArchiveEntry external;
  external.key = "far";
  external.kind = ArchiveEntryKind::external;
  external.file = "other.bin";
  external.offset = 2;
  external.length = 3;
  (void)folder_.write("other.bin", "012345");
  const auto made = writer({splat, typed, external, data("wide", 5000, 256), data("", 0)});
  EXPECT_FALSE(std::filesystem::exists(path_));
  // At positions within an entry, in any order.
  write(*made, 3, 4990, "the end");
  write(*made, 3, 0, "begin");
  write(*made, 1, 4, "4567");
  write(*made, 1, 0, "0123");
  made->set_hash(1, 0x1234U);
  made->finish();
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
  EXPECT_EQ(std::filesystem::file_size(path_) % 4096, 0U);

  const auto archive = opened(path_);
  ASSERT_EQ(archive->size(), 5U);
  EXPECT_EQ(archive->entry(0).type, "f16");
  EXPECT_EQ(archive->entry(0).shape, Shape{3});
  EXPECT_EQ(bytes_of(*archive, 0), "\1\2\1\2\1\2");
  EXPECT_EQ(archive->entry(1).shape, (Shape{2, 1}));
  EXPECT_EQ(bytes_of(*archive, 1), "01234567");
  EXPECT_EQ(archive->hash_of(1), std::uint64_t{0x1234});
  EXPECT_EQ(archive->hash_of(3), std::nullopt);
  EXPECT_EQ(bytes_of(*archive, 2), "234");
  EXPECT_EQ(archive->entry(3).offset % 256, 0U);
  EXPECT_EQ(archive->entry(3).alignment, 256U);
  std::string wide(5000, '\0');
  wide.replace(0, 5, "begin");
  wide.replace(4990, 7, "the end");
  EXPECT_EQ(bytes_of(*archive, 3), wide);
  EXPECT_EQ(archive->entry(4).key, "");
}

TEST_F(IrpaWriting, TheLayoutIsThatOfOtherWriters) {
  writer({data("a", 70), data("b", 3)})->finish();
  std::ifstream in(path_, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto number = [&](std::size_t at) {
    return load_little<std::uint64_t>(std::as_bytes(std::span(bytes)), at);
  };
  EXPECT_EQ(bytes.substr(0, 4), "IRPA");
  EXPECT_EQ(number(8), 88U);
  EXPECT_EQ(number(16), 0U);
  EXPECT_EQ(number(32), 2U);
  EXPECT_EQ(number(40), 96U);         // entries
  EXPECT_EQ(number(48), 80U + 76U);   // the last is not padded
  EXPECT_EQ(number(56), 96U + 156U);  // metadata at once
  EXPECT_EQ(bytes[number(56)], 'a');
  EXPECT_EQ(number(72) % 64, 0U);
  EXPECT_EQ(number(80), 131U);  // 70, to 128, and 3
}

TEST_F(IrpaWriting, AnArchiveOfNothingIsOne) {
  writer({})->finish();
  EXPECT_EQ(opened(path_)->size(), 0U);
}

TEST_F(IrpaWriting, WhatIsNotFinishedLeavesTheOldFile) {
  (void)folder_.write("a.irpa", "old");
  {
    const auto made = writer({data("a", 10)});
    write(*made, 0, 0, "0123456789");
  }
  EXPECT_EQ(std::filesystem::file_size(path_), 3U);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
}

TEST_F(IrpaWriting, WhatAKilledWriterLeftIsTakenOver) {
  (void)folder_.write("a.irpa.part", std::string(9000, 'x'));
  const auto made = writer({data("a", 10)});
  made->finish();
  EXPECT_EQ(bytes_of(*opened(path_), 0), std::string(10, '\0'));
}

TEST_F(IrpaWriting, TwoWritersDoNotMeet) {
  const auto first = writer({data("a", 10)});
  EXPECT_THAT(refused({data("b", 10)}), HasSubstr("another process"));
  first->finish();
  writer({data("b", 10)})->finish();
  EXPECT_EQ(opened(path_)->entry(0).key, "b");
}

TEST_F(IrpaWriting, PathsThatCannotBeWrittenAreNamed) {
  path_ = folder_.file("none/a.irpa");
  EXPECT_THAT(refused({}), HasSubstr("none/a.irpa"));
  path_ = folder_.path().string();
  EXPECT_THAT(refused({}), HasSubstr("irectory"));
  path_ = "/dev/null";
  EXPECT_THAT(refused({}), HasSubstr("regular"));
  path_ = folder_.file("linked");
  std::filesystem::create_symlink(folder_.write("target", "kept"), path_ + ".part");
  EXPECT_THAT(refused({}), HasSubstr("cannot be written"));
}

TEST_F(IrpaWriting, AFileThatMayNotGrowIsACleanFault) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = [&] {
    try {
      (void)writer({data("a", 1 << 20)});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failure);
      return error.message();
    }
    return std::string();
  }();
  setrlimit(RLIMIT_FSIZE, &before);
  (void)std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("a.irpa"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
}

TEST_F(IrpaWriting, EntriesThatCannotBeAreRefused) {
  EXPECT_THAT(refused({data(std::string(70'000, 'k'), 1)}), HasSubstr("64 KiB"));
  EXPECT_THAT(refused({data(std::string_view("a\0b", 3), 1)}), HasSubstr("zero"));
  EXPECT_THAT(refused({data("a", UINT64_MAX)}), HasSubstr("larger"));
  const std::uint64_t half = std::uint64_t{1} << 62;
  EXPECT_THAT(refused({data("a", half), data("b", half)}), HasSubstr("larger"));
  EXPECT_THAT(refused({data("a", 1, 48)}), HasSubstr("power of two"));
  ArchiveEntry splat = data("s", 5);
  splat.kind = ArchiveEntryKind::splat;
  EXPECT_THAT(refused({splat}), HasSubstr("splat"));
  ArchiveEntry external = data("s", 5);
  external.kind = ArchiveEntryKind::external;
  EXPECT_THAT(refused({external}), HasSubstr("path"));
}

TEST_F(IrpaWriting, WritesBeyondAnEntryAreMistakes) {
  const auto made = writer({data("a", 10), data("b", 10)});
  EXPECT_THROW(write(*made, 0, 5, "012345"), Error);
  EXPECT_THROW(write(*made, 0, UINT64_MAX, "01"), Error);
}

TEST_F(IrpaWriting, FourGigabytesTakeNoMemory) {
  const auto budget = memory::Budget::root("test", 1 << 20);
  const auto made = IrpaWriter::create(
      path_, 1, [](std::size_t) { return data("huge", std::uint64_t{4} << 30); }, *budget);
  ASSERT_TRUE(made.has_value());
  (*made)->write(0, (std::uint64_t{4} << 30) - 1, std::as_bytes(std::span("x", 1)));
  EXPECT_LT(budget->peak_used(), 200'000U);
  const auto refused =
      IrpaWriter::create(path_ + "2", 100'000, [](std::size_t) { return data("", 0); }, *budget);
  EXPECT_FALSE(refused.has_value());
}

TEST(EntryFacts, ComeBackAsTheyWere) {
  const auto facts = parse_entry_facts(format_entry_facts("q4_k", Shape{2, 256}).text);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->type, ArchiveType::q4_k);
  EXPECT_EQ(facts->shape, (Shape{2, 256}));
  EXPECT_EQ(facts->hash, std::nullopt);
  EXPECT_EQ(parse_entry_facts(format_entry_facts("f32", Shape{}).text)->shape, Shape{});
  EXPECT_EQ(parse_entry_facts("plimsoll/1\nlater=1\nxxh3=00000000000000ff\n")->hash, 255U);
}

TEST(EntryFacts, OthersMetadataAreNotTaken) {
  for (const char* text :
       {"", "plimsoll/2\n", "{}", "plimsoll/1\ntype=f33\n", "plimsoll/1\nshape=\n",
        "plimsoll/1\nshape=2x\n", "plimsoll/1\nshape=-2\n", "plimsoll/1\nshape=1x1x1x1x1x1x1x1x1\n",
        "plimsoll/1\nshape=4611686018427387904x4611686018427387904\n", "plimsoll/1\nxxh3=12\n",
        "plimsoll/1\nxxh3=000000000000000g\n", "plimsoll/1\ntype=f32"}) {
    EXPECT_FALSE(parse_entry_facts(text).has_value()) << text;
  }
}

TEST(EntryFacts, ThatContradictTheLengthAreRefused) {
  const TemporaryFolder folder;
  IrpaBytes file;
  file.data("w", "0123", format_entry_facts("f32", Shape{2}).text);
  EXPECT_THAT(refusal_of(folder.write("a.irpa", file.bytes())), HasSubstr("not its 4 bytes"));
}

}  // namespace
}  // namespace plimsoll::tensor::test
