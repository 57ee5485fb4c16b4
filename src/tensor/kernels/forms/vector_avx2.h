// Eight floats in AVX2 with FMA and F16C: the vector of target avx2, and half of the vector of
// avx512-on-256. Why it exists: see vector_portable.h. May touch: intrinsics. Include it only from
// files that are compiled for AVX2.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace plimsoll::tensor::kernels {

struct Avx2Vector {
  using Float = __m256;
  using Int = __m256i;

  static constexpr int lanes = 8;
  /// 6 rows by 2 panels are 12 sums, 2 factors of B and 1 of A: 15 of 16 registers.
  static constexpr int tile_rows = 6;
  static constexpr bool fused_rounds_once = true;

  static Float zero() { return _mm256_setzero_ps(); }
  static Float splat(float x) { return _mm256_set1_ps(x); }
  static Float load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Float v) { _mm256_storeu_ps(p, v); }
  static Float load_part(const float* p, std::int64_t count) {
    return _mm256_maskload_ps(p, first(count));
  }
  static void store_part(float* p, Float v, std::int64_t count) {
    _mm256_maskstore_ps(p, first(count), v);
  }

  static Float fused(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  static Float minimum(Float a, Float b) { return _mm256_min_ps(a, b); }
  static Float maximum(Float a, Float b) { return _mm256_max_ps(a, b); }
  static Float where_negative(Float x, Float a, Float b) {
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LT_OQ));
  }
  static Float power_of_two(Float n) {
    const Int exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
  }

  static Float load_bf16(const std::uint16_t* p) {
    const Int bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
  }
  static Float load_f16(const std::uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static Float load_i8(const std::int8_t* p) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
  }
  static Float load_u8(const std::uint8_t* p) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
  }

  static Int int_zero() { return _mm256_setzero_si256(); }
  static Int int_splat(std::int32_t x) { return _mm256_set1_epi32(x); }
  static Int load_int(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static void store_int(void* p, Int v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  static Int exclusive_or(Int a, Int b) { return _mm256_xor_si256(a, b); }
  /// VPMADDUBSW would take half the operations, but it saturates.
  static Int dot(Int sum, Int a, Int b) {
    const Int low = _mm256_set1_epi32(0x00FF00FF);
    const Int even =
        _mm256_madd_epi16(_mm256_and_si256(a, low), _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8));
    const Int odd = _mm256_madd_epi16(_mm256_srli_epi16(a, 8), _mm256_srai_epi16(b, 8));
    return _mm256_add_epi32(_mm256_add_epi32(sum, even), odd);
  }

 private:
  static Int first(std::int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};

}  // namespace plimsoll::tensor::kernels
