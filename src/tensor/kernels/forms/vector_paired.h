// A vector made of two of half its width. Why it exists: the 512-bit forms run on 256-bit machines
// with the same tiles, packing and results, so that they are tested everywhere. May touch: nothing.
#pragma once

#include <cstdint>

namespace plimsoll::tensor::kernels {

template <typename Half, int rows>
struct PairedVector {
  struct Float {
    typename Half::Float low;
    typename Half::Float high;
    friend Float operator+(Float a, Float b) { return {a.low + b.low, a.high + b.high}; }
    friend Float operator-(Float a, Float b) { return {a.low - b.low, a.high - b.high}; }
    friend Float operator*(Float a, Float b) { return {a.low * b.low, a.high * b.high}; }
    friend Float operator/(Float a, Float b) { return {a.low / b.low, a.high / b.high}; }
  };
  struct Int {
    typename Half::Int low;
    typename Half::Int high;
  };

  static constexpr int lanes = 2 * Half::lanes;
  static constexpr int tile_rows = rows;
  static constexpr bool fused_rounds_once = Half::fused_rounds_once;

  static Float zero() { return {Half::zero(), Half::zero()}; }
  static Float splat(float x) { return {Half::splat(x), Half::splat(x)}; }
  static Float load(const float* p) { return {Half::load(p), Half::load(p + Half::lanes)}; }
  static void store(float* p, Float v) {
    Half::store(p, v.low);
    Half::store(p + Half::lanes, v.high);
  }
  static Float load_part(const float* p, std::int64_t count) {
    if (count <= Half::lanes) return {Half::load_part(p, count), Half::zero()};
    return {Half::load(p), Half::load_part(p + Half::lanes, count - Half::lanes)};
  }
  static void store_part(float* p, Float v, std::int64_t count) {
    if (count <= Half::lanes) {
      Half::store_part(p, v.low, count);
      return;
    }
    Half::store(p, v.low);
    Half::store_part(p + Half::lanes, v.high, count - Half::lanes);
  }

  static Float fused(Float a, Float b, Float c) {
    return {Half::fused(a.low, b.low, c.low), Half::fused(a.high, b.high, c.high)};
  }
  static Float minimum(Float a, Float b) {
    return {Half::minimum(a.low, b.low), Half::minimum(a.high, b.high)};
  }
  static Float maximum(Float a, Float b) {
    return {Half::maximum(a.low, b.low), Half::maximum(a.high, b.high)};
  }
  static Float where_negative(Float x, Float a, Float b) {
    return {Half::where_negative(x.low, a.low, b.low),
            Half::where_negative(x.high, a.high, b.high)};
  }
  static Float power_of_two(Float n) {
    return {Half::power_of_two(n.low), Half::power_of_two(n.high)};
  }

  static Float load_bf16(const std::uint16_t* p) {
    return {Half::load_bf16(p), Half::load_bf16(p + Half::lanes)};
  }
  static Float load_f16(const std::uint16_t* p) {
    return {Half::load_f16(p), Half::load_f16(p + Half::lanes)};
  }
  static Float load_i8(const std::int8_t* p) {
    return {Half::load_i8(p), Half::load_i8(p + Half::lanes)};
  }
  static Float load_u8(const std::uint8_t* p) {
    return {Half::load_u8(p), Half::load_u8(p + Half::lanes)};
  }

  static Int int_zero() { return {Half::int_zero(), Half::int_zero()}; }
  static Int int_splat(std::int32_t x) { return {Half::int_splat(x), Half::int_splat(x)}; }
  static Int load_int(const void* p) {
    return {Half::load_int(p), Half::load_int(static_cast<const char*>(p) + 4 * Half::lanes)};
  }
  static void store_int(void* p, Int v) {
    Half::store_int(p, v.low);
    Half::store_int(static_cast<char*>(p) + 4 * Half::lanes, v.high);
  }
  static Int exclusive_or(Int a, Int b) {
    return {Half::exclusive_or(a.low, b.low), Half::exclusive_or(a.high, b.high)};
  }
  static Int dot(Int sum, Int a, Int b) {
    return {Half::dot(sum.low, a.low, b.low), Half::dot(sum.high, a.high, b.high)};
  }
};

}  // namespace plimsoll::tensor::kernels
