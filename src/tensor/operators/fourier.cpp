#include "tensor/operators/fourier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "plimsoll/error.h"
#include "plimsoll/shape.h"

namespace plimsoll::tensor {
namespace {

/// Buffers of all rows at a time stay below this where there are several.
constexpr std::int64_t buffer_bytes = 256 * 1024;

std::vector<std::int64_t> factors_of(std::int64_t length) {
  std::vector<std::int64_t> factors;
  for (; length % 4 == 0; length /= 4) factors.push_back(4);
  for (std::int64_t factor = 2; factor * factor <= length; ++factor) {
    for (; length % factor == 0; length /= factor) factors.push_back(factor);
  }
  if (length > 1) factors.push_back(length);
  return factors;
}

}  // namespace

FourierScratch::FourierScratch(std::int64_t length, std::int64_t rows, std::size_t number_bytes) {
  if (length < 1 || length > (std::int64_t{1} << 31)) {
    fail_input(fmt::format("a Fourier transform of length {} is out of range", length));
  }
  const std::int64_t each = length * 4 * static_cast<std::int64_t>(number_bytes);
  slots = std::clamp<std::int64_t>(buffer_bytes / each, 1, kernels::ThreadPool::max_threads);
  slots = std::clamp<std::int64_t>(rows, 1, slots);
  bytes = checked_bytes(Shape{length, 2 + 4 * slots}, number_bytes, "Fourier transform");
}

template <typename C>
FourierTransform<C>::FourierTransform(std::int64_t length, bool inverse, C* table)
    : length_(length),
      inverse_(inverse),
      cosines_(table),
      sines_(table + length),
      factors_(factors_of(length)) {
  const double angle = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(length);
  for (std::int64_t k = 0; k < length; ++k) {
    table[k] = static_cast<C>(std::cos(angle * static_cast<double>(k)));
    table[length + k] = static_cast<C>(std::sin(angle * static_cast<double>(k)));
  }
}

template <typename C>
C* FourierTransform<C>::run(C* data, C* work) const {
  std::int64_t rest = length_;
  std::int64_t step = 1;
  for (const std::int64_t factor : factors_) {
    rest /= factor;
    stage(factor, rest, step, data, work);
    std::swap(data, work);
    step *= factor;
  }
  if (inverse_) {
    const C scale = C{1} / static_cast<C>(length_);
    for (std::int64_t i = 0; i < 2 * length_; ++i) data[i] *= scale;
  }
  return data;
}

/// to[k + step·(factor·q + u)] = w^(q·u) · Σ_r from[k + step·(q + rest·r)] · v^(r·u) for k < step,
/// q < rest, u < factor; w and v are the roots of unity of order rest·factor and factor.
template <typename C>
void FourierTransform<C>::stage(std::int64_t factor, std::int64_t rest, std::int64_t step,
                                const C* from, C* to) const {
  const C* from_i = from + length_;
  C* to_i = to + length_;
  const C turn = inverse_ ? C{-1} : C{1};  // the sign of a quarter turn
  for (std::int64_t q = 0; q < rest; ++q) {
    for (std::int64_t u = 0; u < factor; ++u) {
      const std::int64_t twiddle = q * u * step;
      const C c = cosines_[twiddle];
      const C s = sines_[twiddle];
      C* out = to + step * (factor * q + u);
      C* out_i = to_i + step * (factor * q + u);
      const auto put = [&](std::int64_t k, C real, C imaginary) {
        out[k] = real * c - imaginary * s;
        out_i[k] = real * s + imaginary * c;
      };
      const C* a = from + step * q;
      const C* a_i = from_i + step * q;
      const std::int64_t apart = step * rest;
      if (factor == 2) {
        const C sign = u == 0 ? C{1} : C{-1};
        for (std::int64_t k = 0; k < step; ++k) {
          put(k, a[k] + sign * a[k + apart], a_i[k] + sign * a_i[k + apart]);
        }
        continue;
      }
      if (factor == 4) {
        // Σ a_r (−i)^(r·u): even u adds or subtracts, odd u also turns by a quarter.
        const C sign = u < 2 ? C{1} : C{-1};
        for (std::int64_t k = 0; k < step; ++k) {
          const C* b = a + k;
          const C* b_i = a_i + k;
          if (u % 2 == 0) {
            put(k, (b[0] + b[2 * apart]) + sign * (b[apart] + b[3 * apart]),
                (b_i[0] + b_i[2 * apart]) + sign * (b_i[apart] + b_i[3 * apart]));
          } else {
            put(k, (b[0] - b[2 * apart]) + sign * turn * (b_i[apart] - b_i[3 * apart]),
                (b_i[0] - b_i[2 * apart]) - sign * turn * (b[apart] - b[3 * apart]));
          }
        }
        continue;
      }
      std::fill_n(out, step, C{0});
      std::fill_n(out_i, step, C{0});
      for (std::int64_t r = 0; r < factor; ++r) {
        const std::int64_t root = r * u % factor * (length_ / factor);
        const C cr = cosines_[root];
        const C sr = sines_[root];
        const C* b = a + apart * r;
        const C* b_i = a_i + apart * r;
        for (std::int64_t k = 0; k < step; ++k) {
          out[k] += b[k] * cr - b_i[k] * sr;
          out_i[k] += b[k] * sr + b_i[k] * cr;
        }
      }
      for (std::int64_t k = 0; k < step; ++k) put(k, out[k], out_i[k]);
    }
  }
}

template class FourierTransform<float>;
template class FourierTransform<double>;

}  // namespace plimsoll::tensor
