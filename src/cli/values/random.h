// Random inputs that anybody can reproduce. Why it exists: a run must be comparable with another
// program's on the same numbers without a file passing between them. May touch: tensor_view.h.
//
// The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014). With all arithmetic modulo 2^64 and
//
//   gamma  = 0x9E3779B97F4A7C15
//   mix(z) : z ^= z >> 30; z *= 0xBF58476D1CE4E5B9; z ^= z >> 27; z *= 0x94D049BB133111EB;
//            z ^= z >> 31
//
// element i of the model's input number n (both from 0, row-major) with seed s is made of the bits
//
//   b = mix(mix(mix(s + gamma) + n + gamma) + (i + 1) × gamma)
//
// as b >> 40 over 2^24 for f32, b >> 11 over 2^53 for f64, b >> 53 over 2^11 for f16, b >> 56 over
// 2^8 for bf16 (each exact in its type, so never rounded up to 1), and b >> 63 for integers and
// booleans. docs/formats.md says the same to users; tests/support/values.py does it in Python.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plimsoll/tensor_view.h"

namespace plimsoll::cli {

/// Fills a tensor of any element type but strings; `input` is the number of the model's input.
void fill_random(TensorView tensor, std::uint64_t seed, std::size_t input);

}  // namespace plimsoll::cli
