// Loops of matrix products over any element types. Why it exists: MatMul, Gemm, the integer
// products and Einsum are one loop over different operands. It is the portable reference; products
// that models spend their time in run through kernels/. May touch: thread_pool.h.
//
// A product has `batches` matrices of m×k times k×n. Operands and results are callables:
//   left(batch)  → (i, k) → Sum          right(batch) → (k, j) → Sum
//   put(batch, i, j, Sum)
// Each result is summed by one thread in a fixed order: results do not depend on the threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tensor/kernels/thread_pool.h"

namespace plimsoll::tensor {

struct ProductSize {
  std::int64_t batches = 1;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
};

/// Which way operands are contiguous, and so which loop is the innermost.
enum class ProductOrder : std::uint8_t {
  columns,  ///< right(k, j) for consecutive j
  depth,    ///< left(i, k) and right(k, j) for consecutive k
};

namespace detail {

inline constexpr std::int64_t product_rows = 4;
inline constexpr std::int64_t product_columns = 8;
inline constexpr std::int64_t product_lanes = 8;
/// Columns that one task takes: the rows of B within them stay in the first-level cache.
inline constexpr std::int64_t product_block = 128;

/// `rows` × `columns` results with their sums in registers; both are constants where the tile is
/// whole, so that the loops unroll.
template <typename Sum, typename Left, typename Right, typename Put>
[[gnu::always_inline]] inline void column_tile(std::int64_t i, std::int64_t j, std::int64_t rows,
                                               std::int64_t columns, std::int64_t depth,
                                               const Left& left, const Right& right,
                                               const Put& put) {
  std::array<std::array<Sum, product_columns>, product_rows> sums{};
  for (std::int64_t k = 0; k < depth; ++k) {
    std::array<Sum, product_columns> b{};
    for (std::int64_t c = 0; c < columns; ++c) b[static_cast<std::size_t>(c)] = right(k, j + c);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Sum a = left(i + r, k);
      auto& row = sums[static_cast<std::size_t>(r)];
      for (std::size_t c = 0; c < product_columns; ++c) row[c] += a * b[c];
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      put(i + r, j + c, sums[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
    }
  }
}

/// One result; products go to lanes side by side, so that the loop vectorises.
template <typename Sum, typename Left, typename Right>
Sum depth_dot(std::int64_t i, std::int64_t j, std::int64_t depth, const Left& left,
              const Right& right) {
  std::array<Sum, product_lanes> sums{};
  std::int64_t k = 0;
  for (; k + product_lanes <= depth; k += product_lanes) {
    for (std::int64_t lane = 0; lane < product_lanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] += left(i, k + lane) * right(k + lane, j);
    }
  }
  for (std::int64_t rest = k; rest < depth; ++rest) {
    sums[static_cast<std::size_t>(rest - k)] += left(i, rest) * right(rest, j);
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace detail

/// Sum is a floating type, or an unsigned one whose sums wrap.
template <typename Sum, ProductOrder order, typename Left, typename Right, typename Put>
void multiply(kernels::ThreadPool& threads, const ProductSize& size, const Left& left,
              const Right& right, const Put& put) {
  using namespace detail;
  const std::int64_t row_blocks = (size.m + product_rows - 1) / product_rows;
  const std::int64_t column_blocks = (size.n + product_block - 1) / product_block;
  const std::int64_t work =
      std::max<std::int64_t>(1, product_rows * std::min(size.n, product_block) * size.k);
  const std::int64_t grain = std::max<std::int64_t>(1, 32 * 1024 / work);
  threads.parallel_for(size.batches * row_blocks * column_blocks, grain,
                       [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
                         for (std::int64_t task = begin; task < end; ++task) {
                           const std::int64_t batch = task / (row_blocks * column_blocks);
                           const std::int64_t i = task / column_blocks % row_blocks * product_rows;
                           const std::int64_t first = task % column_blocks * product_block;
                           const std::int64_t last = std::min(size.n, first + product_block);
                           const std::int64_t rows = std::min(product_rows, size.m - i);
                           const auto a = left(batch);
                           const auto b = right(batch);
                           const auto store = [&](std::int64_t row, std::int64_t column, Sum sum) {
                             put(batch, row, column, sum);
                           };
                           if constexpr (order == ProductOrder::depth) {
                             for (std::int64_t r = i; r < i + rows; ++r) {
                               for (std::int64_t j = first; j < last; ++j) {
                                 store(r, j, depth_dot<Sum>(r, j, size.k, a, b));
                               }
                             }
                           } else {
                             for (std::int64_t j = first; j < last; j += product_columns) {
                               const std::int64_t columns = std::min(product_columns, last - j);
                               if (rows == product_rows && columns == product_columns) {
                                 column_tile<Sum>(i, j, product_rows, product_columns, size.k, a, b,
                                                  store);
                               } else {
                                 column_tile<Sum>(i, j, rows, columns, size.k, a, b, store);
                               }
                             }
                           }
                         }
                       });
}

}  // namespace plimsoll::tensor
