// Prints the GFLOP/s that one thread reaches with nothing but f32 multiply-adds on the widest
// vectors that the CPU has. Why it exists: the yardstick of bench/matmul_limit.py, which must come
// from the same minute on the same machine. May touch: the standard library.
//
// The accumulators are independent and stay in registers: 2 units × 4 to 5 cycles of latency need
// ten in flight; 12 fit every register file.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

constexpr int accumulators = 12;
constexpr int rounds = 1 << 16;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The compiler must believe that a vector is used and changed.
template <typename Vector>
void touch(Vector& vector) {
  asm volatile("" : "+v"(vector));
}

__attribute__((target("avx512f"))) double flops_of_512() {
  __m512 sums[accumulators];
  for (__m512& sum : sums) sum = _mm512_set1_ps(1);
  __m512 factor = _mm512_set1_ps(0.5F);
  touch(factor);
  for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int index = 0; index < accumulators; ++index) {
      sums[index] = _mm512_fmadd_ps(sums[index], factor, factor);
      touch(sums[index]);
    }
  }
  return 2.0 * 16 * accumulators * rounds;
}

__attribute__((target("avx2,fma"))) double flops_of_256() {
  __m256 sums[accumulators];
  for (__m256& sum : sums) sum = _mm256_set1_ps(1);
  __m256 factor = _mm256_set1_ps(0.5F);
  asm volatile("" : "+x"(factor));
  for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int index = 0; index < accumulators; ++index) {
      sums[index] = _mm256_fmadd_ps(sums[index], factor, factor);
      asm volatile("" : "+x"(sums[index]));
    }
  }
  return 2.0 * 8 * accumulators * rounds;
}

double best_gflops(double (*run)()) {
  double best = 0;
  const double end = now_seconds() + 0.5;
  do {
    const double begin = now_seconds();
    const double flops = run();
    best = std::max(best, flops / (now_seconds() - begin) / 1e9);
  } while (now_seconds() < end);
  return best;
}

}  // namespace

int main() {
  double (*run)() = nullptr;
  if (__builtin_cpu_supports("avx512f")) {
    run = flops_of_512;
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    run = flops_of_256;
  } else {
    std::fputs("fma_limit: this CPU has no FMA\n", stderr);
    return 1;
  }
  static_cast<void>(best_gflops(run));  // warms up: clocks change under wide vectors
  std::printf("%.1f\n", best_gflops(run));
  return 0;
}
