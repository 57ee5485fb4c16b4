// Copies between views with strides. Why it exists: Transpose, Expand, Tile, Slice, DepthToSpace
// and many others are one copy with different strides, which is made fast once. May touch:
// thread_pool.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/kernels/thread_pool.h"

namespace plimsoll::tensor {

/// Dimensions that a strided copy takes at most: Tile needs two for each of a tensor's eight.
inline constexpr std::size_t max_copy_rank = 16;

/// Copies bytes, in parallel where there are many; nothing where both are the same memory.
void copy_bytes(kernels::ThreadPool& threads, const std::byte* source, std::byte* destination,
                std::uint64_t bytes);

/// Copies `rows` rows of `row_bytes`; strides in bytes from row to row.
void copy_rows(kernels::ThreadPool& threads, std::int64_t rows, std::int64_t row_bytes,
               const std::byte* source, std::int64_t source_stride, std::byte* destination,
               std::int64_t destination_stride);

/// destination[Σ iₖ·dₖ] = source[Σ iₖ·sₖ] for all i below `sizes`; strides in elements of
/// `element_bytes` (1, 2, 4 or 8). Source strides may be 0 or negative; destination elements must
/// be distinct. At most max_copy_rank dimensions.
void copy_strided(kernels::ThreadPool& threads, std::size_t element_bytes,
                  std::span<const std::int64_t> sizes, const std::byte* source,
                  std::span<const std::int64_t> source_strides, std::byte* destination,
                  std::span<const std::int64_t> destination_strides);

/// The same into a row-major destination of these sizes.
void copy_strided(kernels::ThreadPool& threads, std::size_t element_bytes,
                  std::span<const std::int64_t> sizes, const std::byte* source,
                  std::span<const std::int64_t> source_strides, std::byte* destination);

/// Writes `count` copies of the element at `value`.
void fill_elements(kernels::ThreadPool& threads, std::size_t element_bytes, const std::byte* value,
                   std::byte* destination, std::int64_t count);

}  // namespace plimsoll::tensor
