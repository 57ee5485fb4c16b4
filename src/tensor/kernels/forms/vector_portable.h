// Four floats in GCC's vector extension: the vector of target generic. Why it exists: kernels are
// written once over a vector type, and this one is what every CPU has. May touch: nothing.
//
// All vector types have the same static functions; vector_avx2.h says which differ in cost. There
// is no fused operation: fused() rounds twice, always, so that results do not depend on the CPU.
#pragma once

#include <cstdint>

namespace plimsoll::tensor::kernels {

struct PortableVector {
  // may_alias, element alignment: memory is read and written through these types.
  typedef float Float __attribute__((vector_size(16), aligned(4), may_alias));
  typedef std::int32_t Int __attribute__((vector_size(16), aligned(1), may_alias));
  typedef std::uint32_t Bits __attribute__((vector_size(16), aligned(1), may_alias));
  typedef std::int16_t Pairs __attribute__((vector_size(16), aligned(1), may_alias));
  typedef std::uint16_t Halves __attribute__((vector_size(8), aligned(1), may_alias));
  typedef std::int8_t Bytes __attribute__((vector_size(4), aligned(1), may_alias));
  typedef std::uint8_t UnsignedBytes __attribute__((vector_size(4), aligned(1), may_alias));

  static constexpr int lanes = 4;
  static constexpr int tile_rows = 6;
  static constexpr bool fused_rounds_once = false;

  static Float zero() { return Float{}; }
  static Float splat(float x) { return Float{x, x, x, x}; }
  static Float load(const float* p) { return *reinterpret_cast<const Float*>(p); }
  static void store(float* p, Float v) { *reinterpret_cast<Float*>(p) = v; }
  /// The first `count` elements (1 to lanes); the rest is zero.
  static Float load_part(const float* p, std::int64_t count) {
    Float v{};
    for (int i = 0; i < lanes; ++i) {
      if (i < count) v[i] = p[i];
    }
    return v;
  }
  static void store_part(float* p, Float v, std::int64_t count) {
    for (int i = 0; i < lanes; ++i) {
      if (i < count) p[i] = v[i];
    }
  }

  /// a·b + c
  static Float fused(Float a, Float b, Float c) { return a * b + c; }
  /// a < b ? a : b; b where either is NaN.
  static Float minimum(Float a, Float b) { return a < b ? a : b; }
  static Float maximum(Float a, Float b) { return a > b ? a : b; }
  /// x < 0 ? a : b
  static Float where_negative(Float x, Float a, Float b) { return x < 0.0F ? a : b; }
  /// 2^n for whole n from −126 to 127.
  static Float power_of_two(Float n) {
    return from_bits((Bits)(__builtin_convertvector(n, Int) + 127) << 23U);
  }
  static Float from_bits(Bits bits) { return (Float)bits; }

  static Float load_bf16(const std::uint16_t* p) {
    return from_bits(__builtin_convertvector(*reinterpret_cast<const Halves*>(p), Bits) << 16U);
  }
  /// Exact: the exponent and fraction moved into place, the exponent scaled by 2^112.
  static Float load_f16(const std::uint16_t* p) {
    const Bits bits = __builtin_convertvector(*reinterpret_cast<const Halves*>(p), Bits);
    const Bits magnitude = (bits & 0x7FFFU) << 13U;
    Bits result = (Bits)(from_bits(magnitude) * 0x1p112F);
    result = (bits & 0x7C00U) == 0x7C00U ? (magnitude | 0x7F800000U) : result;
    return from_bits(result | ((bits & 0x8000U) << 16U));
  }
  static Float load_i8(const std::int8_t* p) {
    return __builtin_convertvector(*reinterpret_cast<const Bytes*>(p), Float);
  }
  static Float load_u8(const std::uint8_t* p) {
    return __builtin_convertvector(*reinterpret_cast<const UnsignedBytes*>(p), Float);
  }

  static Int int_zero() { return Int{}; }
  static Int int_splat(std::int32_t x) { return Int{x, x, x, x}; }
  static Int load_int(const void* p) { return *reinterpret_cast<const Int*>(p); }
  static void store_int(void* p, Int v) { *reinterpret_cast<Int*>(p) = v; }
  static Int exclusive_or(Int a, Int b) { return a ^ b; }
  /// Each 32-bit lane of `a` holds four unsigned bytes, of `b` four signed ones: sum + a·b, exact.
  /// Bytes 0 and 2, then 1 and 3, are multiplied as 16-bit numbers.
  static Int dot(Int sum, Int a, Int b) {
    const Int even = multiply_pairs(a & 0x00FF00FF, (Int)((Pairs)((Pairs)b << 8) >> 8));
    const Int odd = multiply_pairs((Int)((Bits)a >> 8U) & 0x00FF00FF, (Int)((Pairs)b >> 8));
    return (Int)((Bits)sum + (Bits)even + (Bits)odd);
  }

 private:
  static Int multiply_pairs(Int a, Int b) {
#if defined(__SSE2__)
    typedef short Shorts __attribute__((vector_size(16)));
    return (Int)__builtin_ia32_pmaddwd128((Shorts)a, (Shorts)b);
#else
    return ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
#endif
  }
};

}  // namespace plimsoll::tensor::kernels
