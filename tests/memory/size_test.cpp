// Sizes as people write them.
#include "memory/size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plimsoll/error.h"

namespace plimsoll::memory::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t machine = 16ULL << 30;

struct SizeCase {
  const char* text;
  std::uint64_t bytes;
};

class SizeTable : public ::testing::TestWithParam<SizeCase> {};
TEST_P(SizeTable, IsRead) {
  EXPECT_EQ(parse_size(GetParam().text, machine), GetParam().bytes) << GetParam().text;
}
INSTANTIATE_TEST_SUITE_P(Size, SizeTable,
                         ::testing::Values(SizeCase{"4096", 4096}, SizeCase{"1", 1},
                                           SizeCase{"4096B", 4096}, SizeCase{"60MiB", 62914560},
                                           SizeCase{"60 MiB", 62914560}, SizeCase{"60MB", 60000000},
                                           SizeCase{"1kB", 1000}, SizeCase{"1KiB", 1024},
                                           SizeCase{"1.5GB", 1500000000},
                                           SizeCase{"1.5GiB", 1610612736}, SizeCase{"0.5KiB", 512},
                                           SizeCase{"2GiB", 2147483648},
                                           SizeCase{"50%", 8ULL << 30}, SizeCase{"100%", machine},
                                           SizeCase{"12.5 %", 2ULL << 30},
                                           SizeCase{"1152921504606846975", (1ULL << 60) - 1},
                                           SizeCase{"1152921504606846976", 1ULL << 60},
                                           SizeCase{"9007199254740993", 9007199254740993}));

class NoSize : public ::testing::TestWithParam<const char*> {};
TEST_P(NoSize, IsRefusedWithWhatIsAccepted) {
  try {
    const std::uint64_t bytes = parse_size(GetParam(), machine);
    FAIL() << "'" << GetParam() << "' was read as " << bytes;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.message(), HasSubstr(GetParam()));
    EXPECT_THAT(error.message(), HasSubstr("KiB, MiB, GiB, kB, MB or GB"));
    EXPECT_THAT(error.message(), HasSubstr("50%"));
  }
}
INSTANTIATE_TEST_SUITE_P(Size, NoSize,
                         ::testing::Values("", " ", "MiB", "-1", "+1", "0", "0MiB", "0.0001B",
                                           "60mib", "60M", "60 M iB", "60MiB ", "60MiBs", "1e6",
                                           "0x10", "nan", "inf", "1.2.3MB", ".5MB", "101%", "0%",
                                           "50%%", "1152921504606846977", "18446744073709551616",
                                           "99999999999999999999999999", "2000000000GiB",
                                           "1"
                                           "000000000000000000000000000000000000000000000.5GB"));

TEST(Size, APercentageNeedsAMachineThatTellsItsMemory) {
  EXPECT_THROW(static_cast<void>(parse_size("50%", 0)), Error);
  EXPECT_EQ(parse_size("50", 0), 50U);
}

TEST(Size, IsWrittenForPeople) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1), "1 byte");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(60083405), "57.3 MiB");
  EXPECT_EQ(format_bytes((1U << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes((1ULL << 30) - 1), "1.00 GiB");
  EXPECT_EQ(format_bytes(5ULL << 30), "5.00 GiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "17179869184.00 GiB");
}

}  // namespace
}  // namespace plimsoll::memory::test
