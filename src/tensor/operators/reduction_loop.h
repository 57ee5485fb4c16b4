// The loop of the Reduce operators. Why it exists: any set of axes becomes one of two vectorisable
// loops, written once for all reducers. May touch: dispatch.h, thread_pool.h.
//
// Neighbouring dimensions that are both kept or both reduced are merged, so that they alternate:
//
//   … kept × reduced × kept × reduced     the last is reduced: each output sums contiguous runs
//   … reduced × kept                      the last is kept: a row of outputs grows side by side
//
// A reducer over C = Compute<T> has
//   using Sum                       what it accumulates in
//   start()                         the sum of nothing
//   add(Sum, C, C maximum)          one more element
//   join(Sum, Sum)                  two partial sums
//   finish(Sum, count, C maximum)   the result
//   needs_maximum                   whether the largest element is found first, in a pass of its
//   own
//
// Each output is computed by one thread in a fixed order: results do not depend on the threads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "tensor/kernels/thread_pool.h"
#include "tensor/operators/dispatch.h"

namespace plimsoll::tensor {

struct ReductionShape {
  struct Dimension {
    std::int64_t size;
    std::int64_t stride;  // in input elements
  };
  std::array<Dimension, Shape::max_rank> kept{};
  std::array<Dimension, Shape::max_rank> reduced{};
  std::size_t kept_rank = 0;
  std::size_t reduced_rank = 0;
  bool last_is_reduced = true;
  std::int64_t outputs = 1;
  std::int64_t reductions = 1;  ///< elements that make one output

  /// `reduce[axis]` tells whether the axis is reduced.
  ReductionShape(const Shape& shape, const std::array<bool, Shape::max_rank>& reduce);

  [[nodiscard]] static std::int64_t offset(std::span<const Dimension> dimensions,
                                           std::int64_t index) {
    std::int64_t result = 0;
    for (std::size_t axis = dimensions.size(); axis-- > 0;) {
      result += index % dimensions[axis].size * dimensions[axis].stride;
      index /= dimensions[axis].size;
    }
    return result;
  }
};

/// Input elements that one thread reduces at least.
inline constexpr std::int64_t reduction_grain = 16 * 1024;
/// Outputs that grow side by side on the stack.
inline constexpr std::int64_t reduction_block = 256;
/// Partial sums that a contiguous run is dealt to, so that additions do not wait for each other and
/// rounding errors grow slower.
inline constexpr std::int64_t reduction_lanes = 16;

/// At most this many elements go into one partial sum before it is joined to the total: a sum of
/// millions in f32 would otherwise lose its last digits to rounding.
inline constexpr std::int64_t reduction_chunk = 4096;
inline constexpr std::int64_t reduction_rows = 128;

/// Up to reduction_chunk elements side by side in lanes.
template <typename Reducer, typename T, typename C>
typename Reducer::Sum reduce_chunk(const T* data, std::int64_t length, C maximum) {
  using Sum = typename Reducer::Sum;
  constexpr auto lanes = static_cast<std::size_t>(reduction_lanes);
  std::array<Sum, lanes> partial;
  partial.fill(Reducer::start());
  std::int64_t i = 0;
  for (; i + reduction_lanes <= length; i += reduction_lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      partial[lane] =
          Reducer::add(partial[lane], load(data[i + static_cast<std::int64_t>(lane)]), maximum);
    }
  }
  for (std::size_t lane = 0; i < length; ++i, ++lane) {
    partial[lane] = Reducer::add(partial[lane], load(data[i]), maximum);
  }
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) {
      partial[lane] = Reducer::join(partial[lane], partial[lane + width]);
    }
  }
  return partial[0];
}

/// The elements of one contiguous run, joined to `sum`.
template <typename Reducer, typename T, typename C>
typename Reducer::Sum reduce_run(const T* data, std::int64_t length, C maximum,
                                 typename Reducer::Sum sum) {
  if (length < reduction_lanes) {
    for (std::int64_t i = 0; i < length; ++i) sum = Reducer::add(sum, load(data[i]), maximum);
    return sum;
  }
  for (std::int64_t first = 0; first < length; first += reduction_chunk) {
    const std::int64_t count = std::min(reduction_chunk, length - first);
    sum = Reducer::join(sum, reduce_chunk<Reducer>(data + first, count, maximum));
  }
  return sum;
}

template <typename C>
struct MaximumReducer {
  using Sum = C;
  static constexpr bool needs_maximum = false;
  static C start() {
    return std::numeric_limits<C>::has_infinity ? -std::numeric_limits<C>::infinity()
                                                : std::numeric_limits<C>::lowest();
  }
  static C add(C sum, C value, C /*maximum*/) { return join(sum, value); }
  /// A NaN in either operand is the result.
  static C join(C a, C b) {
    const C larger = a > b ? a : b;
    return a != a ? a : larger;
  }
  static C finish(C sum, std::int64_t /*count*/, C /*maximum*/) { return sum; }
};

/// The last dimension is reduced.
template <typename Reducer, typename T, typename R>
void reduce_runs(kernels::ThreadPool& threads, const ReductionShape& shape, const T* input,
                 R* output) {
  using C = Compute<T>;
  using Maximum = MaximumReducer<C>;
  const std::span kept(shape.kept.data(), shape.kept_rank);
  const std::span outer(shape.reduced.data(), shape.reduced_rank - 1);
  const std::int64_t length = shape.reduced[shape.reduced_rank - 1].size;
  const std::int64_t runs = length == 0 ? 0 : shape.reductions / length;
  const std::int64_t grain =
      std::max<std::int64_t>(1, reduction_grain / std::max<std::int64_t>(1, shape.reductions));
  threads.parallel_for(
      shape.outputs, grain, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
        for (std::int64_t index = begin; index < end; ++index) {
          const T* base = input + ReductionShape::offset(kept, index);
          C maximum{};
          if constexpr (Reducer::needs_maximum) {
            maximum = Maximum::start();
            for (std::int64_t run = 0; run < runs; ++run) {
              maximum = reduce_run<Maximum>(base + ReductionShape::offset(outer, run), length,
                                            maximum, maximum);
            }
            maximum = Reducer::shift(maximum);
          }
          typename Reducer::Sum sum = Reducer::start();
          for (std::int64_t run = 0; run < runs; ++run) {
            sum = reduce_run<Reducer>(base + ReductionShape::offset(outer, run), length, maximum,
                                      sum);
          }
          output[index] = store<R>(Reducer::finish(sum, shape.reductions, maximum));
        }
      });
}

/// The last dimension is kept.
template <typename Reducer, typename T, typename R>
void reduce_columns(kernels::ThreadPool& threads, const ReductionShape& shape, const T* input,
                    R* output) {
  using C = Compute<T>;
  using Sum = typename Reducer::Sum;
  using Maximum = MaximumReducer<C>;
  const std::span outer(shape.kept.data(), shape.kept_rank - 1);
  const std::span reduced(shape.reduced.data(), shape.reduced_rank);
  const std::int64_t width = shape.kept[shape.kept_rank - 1].size;
  if (shape.outputs == 0) return;
  const std::int64_t blocks = (width + reduction_block - 1) / reduction_block;
  const std::int64_t work = std::min(width, reduction_block) * shape.reductions;
  // As many rows to a partial sum as there will be partial sums: the error grows with either.
  const std::int64_t rows = std::max(
      reduction_rows, static_cast<std::int64_t>(std::sqrt(static_cast<double>(shape.reductions))));
  const std::int64_t grain =
      std::max<std::int64_t>(1, reduction_grain / std::max<std::int64_t>(1, work));
  threads.parallel_for(
      shape.outputs / width * blocks, grain,
      [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
        std::array<Sum, static_cast<std::size_t>(reduction_block)> sums;
        std::array<Sum, static_cast<std::size_t>(reduction_block)> totals;
        std::array<C, static_cast<std::size_t>(reduction_block)> maxima;
        for (std::int64_t index = begin; index < end; ++index) {
          const std::int64_t row = index / blocks;
          const std::int64_t first = index % blocks * reduction_block;
          const auto count = static_cast<std::size_t>(std::min(reduction_block, width - first));
          const T* base = input + ReductionShape::offset(outer, row) + first;
          std::fill_n(totals.begin(), count, Reducer::start());
          if constexpr (Reducer::needs_maximum) {
            std::fill_n(maxima.begin(), count, Maximum::start());
            for (std::int64_t step = 0; step < shape.reductions; ++step) {
              const T* data = base + ReductionShape::offset(reduced, step);
              for (std::size_t i = 0; i < count; ++i) {
                maxima[i] = Maximum::join(maxima[i], load(data[i]));
              }
            }
            for (std::size_t i = 0; i < count; ++i) maxima[i] = Reducer::shift(maxima[i]);
          } else {
            std::fill_n(maxima.begin(), count, C{});
          }
          for (std::int64_t from = 0; from < shape.reductions; from += rows) {
            std::fill_n(sums.begin(), count, Reducer::start());
            const std::int64_t until = std::min(shape.reductions, from + rows);
            for (std::int64_t step = from; step < until; ++step) {
              const T* data = base + ReductionShape::offset(reduced, step);
              for (std::size_t i = 0; i < count; ++i) {
                sums[i] = Reducer::add(sums[i], load(data[i]), maxima[i]);
              }
            }
            for (std::size_t i = 0; i < count; ++i) {
              totals[i] = Reducer::join(totals[i], sums[i]);
            }
          }
          R* to = output + row * width + first;
          for (std::size_t i = 0; i < count; ++i) {
            to[i] = store<R>(Reducer::finish(totals[i], shape.reductions, maxima[i]));
          }
        }
      });
}

template <typename Reducer, typename T, typename R>
void reduce_elements(kernels::ThreadPool& threads, const ReductionShape& shape, const T* input,
                     R* output) {
  if (shape.last_is_reduced) {
    reduce_runs<Reducer>(threads, shape, input, output);
  } else {
    reduce_columns<Reducer>(threads, shape, input, output);
  }
}

}  // namespace plimsoll::tensor
