// The arithmetic below the operators: integers without undefined results, functions that vectorise.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/operators/integer_math.h"
#include "tensor/operators/vector_math.h"

namespace plimsoll::tensor {
namespace {

TEST(IntegerMath, WrapsAndNeverTraps) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(wrapping_add<std::int8_t>(127, 1), -128);
  EXPECT_EQ(wrapping_multiply<std::uint16_t>(65535, 65535), 1);
  EXPECT_EQ(wrapping_negate(lowest), lowest);
  EXPECT_EQ(defined_divide(lowest, std::int64_t{-1}), lowest);
  EXPECT_EQ(defined_divide(7, 0), 0);
  EXPECT_EQ(defined_divide(-7, 2), -3);
  EXPECT_EQ(defined_remainder(-7, 3), -1);
  EXPECT_EQ(defined_remainder(lowest, std::int64_t{-1}), 0);
  EXPECT_EQ(defined_modulo(-7, 3), 2);
  EXPECT_EQ(defined_modulo(7, -3), -2);
  EXPECT_EQ(defined_modulo(6, -3), 0);
  EXPECT_EQ(wrapping_power(3, 4), 81);
  EXPECT_EQ(wrapping_power(2, -1), 0);
  EXPECT_EQ(wrapping_power(-1, -3), -1);
  EXPECT_EQ(wrapping_power<std::uint8_t>(2, 9), 0);
}

TEST(IntegerMath, TruncatesLikeTheHardware) {
  EXPECT_EQ(truncated<std::int32_t>(-1.9F), -1);
  EXPECT_EQ(truncated<std::int32_t>(NAN), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(truncated<std::int32_t>(3e9F), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(truncated<std::int32_t>(-2147483648.0), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(truncated<std::int32_t>(-2147483648.5), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(truncated<std::uint8_t>(-1.0F), 255);
  EXPECT_EQ(truncated<std::uint8_t>(300.0F), 44);
  EXPECT_EQ(truncated<std::uint32_t>(4e9), 4000000000U);
  EXPECT_EQ(truncated<std::int64_t>(1e19), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(truncated<std::uint64_t>(1.5e19), 15000000000000000000U);
}

/// Distance in units of the last place of `expected`.
double ulps(float actual, double expected) {
  const float nearest = static_cast<float>(expected);
  const double step = std::fabs(static_cast<double>(std::nextafter(nearest, INFINITY)) -
                                static_cast<double>(nearest));
  return std::fabs(static_cast<double>(actual) - expected) / step;
}

TEST(VectorMath, CloseToTheCLibrary) {
  double worst_exp = 0;
  double worst_tanh = 0;
  double worst_erf = 0;
  for (int step = -200000; step <= 200000; ++step) {
    const float x = static_cast<float>(step) * 4.3e-4F;  // ±86
    const double wide = x;
    worst_exp = std::max(worst_exp, ulps(vector_math::exp(x), std::exp(wide)));
    const float y = x / 16;
    worst_tanh = std::max(worst_tanh, ulps(vector_math::tanh(y), std::tanh(double{y})));
    worst_erf = std::max(worst_erf, ulps(vector_math::erf(y), std::erf(double{y})));
  }
  EXPECT_LT(worst_exp, 2.0);
  EXPECT_LT(worst_tanh, 3.0);
  EXPECT_LT(worst_erf, 3.0);
}

TEST(VectorMath, Extremes) {
  EXPECT_EQ(vector_math::exp(0.0F), 1.0F);
  EXPECT_EQ(vector_math::exp(89.0F), INFINITY);
  EXPECT_EQ(vector_math::exp(INFINITY), INFINITY);
  EXPECT_EQ(vector_math::exp(-INFINITY), 0.0F);
  EXPECT_EQ(vector_math::exp(-200.0F), 0.0F);
  EXPECT_NEAR(vector_math::exp(-100.0F), 3.8e-44F, 2e-45F);  // below the normal range
  EXPECT_TRUE(std::isnan(vector_math::exp(NAN)));
  EXPECT_TRUE(std::isnan(vector_math::tanh(NAN)));
  EXPECT_TRUE(std::isnan(vector_math::erf(NAN)));
  EXPECT_EQ(vector_math::tanh(INFINITY), 1.0F);
  EXPECT_EQ(vector_math::tanh(-100.0F), -1.0F);
  EXPECT_EQ(vector_math::erf(-INFINITY), -1.0F);
  EXPECT_EQ(vector_math::sigmoid(-INFINITY), 0.0F);
  EXPECT_EQ(vector_math::sigmoid(INFINITY), 1.0F);
  EXPECT_TRUE(std::signbit(vector_math::tanh(-0.0F)));
}

TEST(VectorMath, RoundingFunctions) {
  for (float x : {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 0.49999997F, 8388607.5F, 8388608.0F, 1e10F,
                  -1e10F, 0.0F, -0.0F, -0.3F, -0.7F, INFINITY, -INFINITY}) {
    EXPECT_EQ(vector_math::round_even(x), std::nearbyint(x)) << x;
    EXPECT_EQ(vector_math::floor(x), std::floor(x)) << x;
    EXPECT_EQ(vector_math::ceil(x), std::ceil(x)) << x;
    EXPECT_EQ(std::signbit(vector_math::ceil(x)), std::signbit(std::ceil(x))) << x;
    EXPECT_EQ(vector_math::floor(double{x} * 1.1), std::floor(double{x} * 1.1)) << x;
  }
  EXPECT_TRUE(std::isnan(vector_math::floor(NAN)));
}

}  // namespace
}  // namespace plimsoll::tensor
