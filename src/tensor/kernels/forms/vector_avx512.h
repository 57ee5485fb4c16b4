// Sixteen floats in AVX-512 (F, BW, DQ, VL): the vector of target avx512. Why it exists: see
// vector_portable.h. May touch: intrinsics. Include it only from files that are compiled for
// AVX-512.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace plimsoll::tensor::kernels {

/// `vnni`: integer products by VPDPBUSD, else by VPMADDWD; the results are the same.
template <bool vnni>
struct Avx512Vector {
  using Float = __m512;
  using Int = __m512i;

  static constexpr int lanes = 16;
  /// 8 rows by 2 panels: 16 sums are enough to hide the latency of 2 units of 4 cycles, and all row
  /// pointers stay in general registers. Measured on Sapphire Rapids, 512³: 12 rows 84 % of the
  /// limit, 10 rows 91 %, 8 rows 92 %, 8 rows by 3 panels 87 %, 6 rows by 4 panels 90 %.
  static constexpr int tile_rows = 8;
  static constexpr bool fused_rounds_once = true;

  static Float zero() { return _mm512_setzero_ps(); }
  static Float splat(float x) { return _mm512_set1_ps(x); }
  static Float load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Float v) { _mm512_storeu_ps(p, v); }
  static Float load_part(const float* p, std::int64_t count) {
    return _mm512_maskz_loadu_ps(first(count), p);
  }
  static void store_part(float* p, Float v, std::int64_t count) {
    _mm512_mask_storeu_ps(p, first(count), v);
  }

  static Float fused(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  static Float minimum(Float a, Float b) { return _mm512_min_ps(a, b); }
  static Float maximum(Float a, Float b) { return _mm512_max_ps(a, b); }
  static Float where_negative(Float x, Float a, Float b) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), b, a);
  }
  static Float power_of_two(Float n) {
    const Int exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23));
  }

  static Float load_bf16(const std::uint16_t* p) {
    const Int bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
  }
  static Float load_f16(const std::uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static Float load_i8(const std::int8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
  }
  static Float load_u8(const std::uint8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
  }

  static Int int_zero() { return _mm512_setzero_si512(); }
  static Int int_splat(std::int32_t x) { return _mm512_set1_epi32(x); }
  static Int load_int(const void* p) { return _mm512_loadu_si512(p); }
  static void store_int(void* p, Int v) { _mm512_storeu_si512(p, v); }
  static Int exclusive_or(Int a, Int b) { return _mm512_xor_si512(a, b); }
  static Int dot(Int sum, Int a, Int b) {
    if constexpr (vnni) {
#if defined(__AVX512VNNI__)
      return _mm512_dpbusd_epi32(sum, a, b);
#endif
    } else {
      const Int low = _mm512_set1_epi32(0x00FF00FF);
      const Int even = _mm512_madd_epi16(_mm512_and_si512(a, low),
                                         _mm512_srai_epi16(_mm512_slli_epi16(b, 8), 8));
      const Int odd = _mm512_madd_epi16(_mm512_srli_epi16(a, 8), _mm512_srai_epi16(b, 8));
      return _mm512_add_epi32(_mm512_add_epi32(sum, even), odd);
    }
  }

 private:
  static __mmask16 first(std::int64_t count) {
    return static_cast<__mmask16>((1U << static_cast<unsigned>(count)) - 1U);
  }
};

}  // namespace plimsoll::tensor::kernels
