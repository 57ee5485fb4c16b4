#include "tensor/graph/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace plimsoll::tensor {
namespace {

/// The value of an f16 by its definition.
double defined_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int mantissa = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Half, EveryF16WidensToItsValueAndComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(half);
    const double expected = defined_value(half.bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide)) << bits;
      const Float16 back = to_float16(wide);
      // Quiet, with sign and payload.
      ASSERT_EQ(back.bits, half.bits | 0x200U) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(wide), expected) << bits;
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << bits;
    ASSERT_EQ(to_float16(wide).bits, half.bits) << bits;
  }
}

TEST(Half, NarrowingRoundsToNearestEven) {
  // Between every two neighbours: the middle goes to the even one, anything beside it to the
  // nearer.
  for (std::uint16_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = defined_value(bits);
    const double high = defined_value(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    const auto even = static_cast<std::uint16_t>((bits & 1) == 0 ? bits : bits + 1);
    ASSERT_EQ(to_float16(middle).bits, even) << bits;
    ASSERT_EQ(to_float16(-middle).bits, even | 0x8000U) << bits;
    ASSERT_EQ(to_float16(std::nextafter(middle, 0.0F)).bits, bits) << bits;
    ASSERT_EQ(to_float16(std::nextafter(middle, 1e9F)).bits, bits + 1) << bits;
  }
  EXPECT_EQ(to_float16(65519.996F).bits, 0x7BFF);
  EXPECT_EQ(to_float16(65520.0F).bits, 0x7C00);
  EXPECT_EQ(to_float16(std::numeric_limits<float>::infinity()).bits, 0x7C00);
  EXPECT_EQ(to_float16(-std::numeric_limits<float>::max()).bits, 0xFC00);
  EXPECT_EQ(to_float16(std::numeric_limits<float>::denorm_min()).bits, 0);
}

TEST(Half, EveryBf16WidensAndComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const BFloat16 half{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(half);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide), bits << 16);
    const std::uint32_t quiet = std::isnan(wide) ? 0x40U : 0U;
    ASSERT_EQ(to_bfloat16(wide).bits, bits | quiet);
  }
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F808000U)).bits, 0x3F80);  // a tie, to even
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F818000U)).bits, 0x3F82);
  EXPECT_EQ(to_bfloat16(std::bit_cast<float>(0x3F808001U)).bits, 0x3F81);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
}

TEST(Half, F64RoundsOnce) {
  // Just above a tie of f16; through f32 the excess would be lost and the tie go to even.
  const double above_tie = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(to_float16(static_cast<float>(above_tie)).bits, 0x3C00);
  EXPECT_EQ(to_float16(above_tie).bits, 0x3C01);
  EXPECT_EQ(to_float16(-above_tie).bits, 0xBC01);
  const double below_tie = 1.0 + 0x1p-11 + 0x1p-10 - 0x1p-40;
  EXPECT_EQ(to_float16(below_tie).bits, 0x3C01);
  EXPECT_EQ(to_bfloat16(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3F81);
  EXPECT_EQ(to_float16(1e300).bits, 0x7C00);
  EXPECT_EQ(to_float16(1e-300).bits, 0);
  EXPECT_TRUE(std::isnan(to_float(to_float16(std::numeric_limits<double>::quiet_NaN()))));
}

}  // namespace
}  // namespace plimsoll::tensor
