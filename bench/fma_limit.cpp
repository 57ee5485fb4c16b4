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
#include <iomanip>
#include <iostream>

namespace {

constexpr int accumulators = 12;
constexpr int rounds = 1 << 16;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// As assembly: left to the compiler, the accumulators went through memory, at 40 % of the limit.
#define FMA(accumulator) "vfmadd213ps %12, %12, %" #accumulator "\n\t"
#define ROUND_OF_FMA \
  FMA(0) FMA(1) FMA(2) FMA(3) FMA(4) FMA(5) FMA(6) FMA(7) FMA(8) FMA(9) FMA(10) FMA(11)

__attribute__((target("avx512f"))) double flops_of_512() {
  __m512 a = _mm512_set1_ps(1);
  __m512 b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;
  const __m512 factor = _mm512_set1_ps(0.5F);
  for (int round = 0; round < rounds; ++round) {
    asm volatile(ROUND_OF_FMA
                 : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(g), "+v"(h), "+v"(i),
                   "+v"(j), "+v"(k), "+v"(l)
                 : "v"(factor));
  }
  return 2.0 * 16 * accumulators * rounds;
}

__attribute__((target("avx2,fma"))) double flops_of_256() {
  __m256 a = _mm256_set1_ps(1);
  __m256 b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;
  const __m256 factor = _mm256_set1_ps(0.5F);
  for (int round = 0; round < rounds; ++round) {
    asm volatile(ROUND_OF_FMA
                 : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h), "+x"(i),
                   "+x"(j), "+x"(k), "+x"(l)
                 : "x"(factor));
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
  std::cout << std::fixed << std::setprecision(1) << best_gflops(run) << '\n';
  return 0;
}
