// The discrete Fourier transform of one row. Why it exists: DFT and STFT are the same transform
// over different rows. May touch: the standard library, shape.h.
//
// Stockham's self-sorting form of the mixed-radix transform (Van Loan, Computational Frameworks for
// the Fast Fourier Transform, 1.7 and 2.5): n is split into its prime factors, fours first, and
// each factor p costs n · p operations, so that lengths with small factors take n · log n and a
// prime takes n². Real and imaginary parts lie apart, so that the inner loops vectorise.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/kernels/thread_pool.h"

namespace plimsoll::tensor {

/// C is float or double.
template <typename C>
class FourierTransform {
 public:
  /// Numbers that the table takes, and that `run` needs of each of its two buffers.
  [[nodiscard]] static constexpr std::int64_t numbers(std::int64_t length) { return 2 * length; }

  /// Fills `table`, which must outlive this. The inverse transform is divided by the length.
  FourierTransform(std::int64_t length, bool inverse, C* table);

  /// Transforms `data` (n real parts, then n imaginary parts), using `work`, of the same size. The
  /// result is in the one of the two that is returned.
  [[nodiscard]] C* run(C* data, C* work) const;

 private:
  void stage(std::int64_t factor, std::int64_t rest, std::int64_t step, const C* from, C* to) const;

  std::int64_t length_;
  bool inverse_;
  const C* cosines_;
  const C* sines_;
  std::vector<std::int64_t> factors_;
};

extern template class FourierTransform<float>;
extern template class FourierTransform<double>;

/// How many rows are transformed at a time, each with two buffers, and what that takes.
struct FourierScratch {
  std::int64_t slots = 1;
  std::uint64_t bytes = 0;

  /// Throws Error(bad_input) when the length is not positive or too large.
  FourierScratch(std::int64_t length, std::int64_t rows, std::size_t number_bytes);
};

/// Transforms rows in parallel: read(row, real, imaginary) fills a row's numbers, write(row, real,
/// imaginary) takes them.
template <typename C, typename Read, typename Write>
void transform_rows(kernels::ThreadPool& threads, std::int64_t rows, std::int64_t length,
                    bool inverse, C* scratch, const Read& read, const Write& write) {
  const std::int64_t slots = FourierScratch(length, rows, sizeof(C)).slots;
  const FourierTransform<C> transform(length, inverse, scratch);
  C* buffers = scratch + FourierTransform<C>::numbers(length);
  threads.parallel_for(slots, 1, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
    for (std::int64_t slot = begin; slot < end; ++slot) {
      C* data = buffers + slot * 2 * FourierTransform<C>::numbers(length);
      C* work = data + FourierTransform<C>::numbers(length);
      for (std::int64_t row = slot; row < rows; row += slots) {
        read(row, data, data + length);
        const C* result = transform.run(data, work);
        write(row, result, result + length);
      }
    }
  });
}

}  // namespace plimsoll::tensor
