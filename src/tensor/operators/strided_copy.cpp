#include "tensor/operators/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "plimsoll/error.h"
#include "tensor/operators/dispatch.h"

namespace plimsoll::tensor {
namespace {

/// Bytes that one thread moves at least; below, waking it costs more than it saves.
constexpr std::int64_t grain_bytes = 64 * 1024;

/// Edge of the tiles in which two dimensions change places. 16 four-byte elements are one cache
/// line, and the 16 lines of a tile stay in the first-level cache.
constexpr std::int64_t tile = 16;

struct Dimension {
  std::int64_t size;
  std::int64_t from;  // source stride
  std::int64_t to;    // destination stride
};

struct Copy {
  std::array<Dimension, max_copy_rank> dimensions;
  std::size_t rank = 0;

  /// Dimensions of size 1 go, and neighbours that one stride covers become one.
  Copy(std::span<const std::int64_t> sizes, std::span<const std::int64_t> from,
       std::span<const std::int64_t> to) {
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      if (sizes[axis] == 1) continue;
      const Dimension next{sizes[axis], from[axis], to[axis]};
      if (rank > 0) {
        Dimension& last = dimensions[rank - 1];
        if (last.from == next.from * next.size && last.to == next.to * next.size) {
          last = {last.size * next.size, next.from, next.to};
          continue;
        }
      }
      dimensions[rank++] = next;
    }
    if (rank == 0) dimensions[rank++] = {1, 1, 1};
  }

  /// Element offsets of the position that `index` numbers, over dimensions [0, count).
  struct Offsets {
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  [[nodiscard]] Offsets offsets(std::int64_t index, std::size_t count) const {
    Offsets result;
    for (std::size_t axis = count; axis-- > 0;) {
      const Dimension& dimension = dimensions[axis];
      const std::int64_t position = index % dimension.size;
      index /= dimension.size;
      result.from += position * dimension.from;
      result.to += position * dimension.to;
    }
    return result;
  }
  [[nodiscard]] std::int64_t product(std::size_t count) const {
    std::int64_t result = 1;
    for (std::size_t axis = 0; axis < count; ++axis) result *= dimensions[axis].size;
    return result;
  }
};

/// Walks over all dimensions but the last, without dividing: rows may be very short.
class RowWalk {
 public:
  RowWalk(const Copy& copy, std::int64_t row) : copy_(copy) {
    for (std::size_t axis = copy.rank - 1; axis-- > 0;) {
      position_[axis] = row % copy.dimensions[axis].size;
      row /= copy.dimensions[axis].size;
      offsets.from += position_[axis] * copy.dimensions[axis].from;
      offsets.to += position_[axis] * copy.dimensions[axis].to;
    }
  }
  void next() {
    for (std::size_t axis = copy_.rank - 1; axis-- > 0;) {
      const Dimension& dimension = copy_.dimensions[axis];
      offsets.from += dimension.from;
      offsets.to += dimension.to;
      if (++position_[axis] < dimension.size) return;
      offsets.from -= dimension.size * dimension.from;
      offsets.to -= dimension.size * dimension.to;
      position_[axis] = 0;
    }
  }
  Copy::Offsets offsets;

 private:
  const Copy& copy_;
  std::array<std::int64_t, max_copy_rank> position_{};
};

/// Bytes up to which a loop is quicker than a call of memcpy.
constexpr std::int64_t short_row_bytes = 32;

/// Rows along the last dimension, whatever its strides.
template <typename T>
void copy_runs(kernels::ThreadPool& threads, const Copy& copy, const T* source, T* destination) {
  const Dimension inner = copy.dimensions[copy.rank - 1];
  const std::int64_t rows = copy.product(copy.rank - 1);
  const std::int64_t row_bytes = inner.size * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t grain = std::max<std::int64_t>(1, grain_bytes / row_bytes);
  const bool contiguous = inner.to == 1 && inner.from == 1 && row_bytes > short_row_bytes;
  threads.parallel_for(rows, grain, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
    RowWalk walk(copy, begin);
    for (std::int64_t row = begin; row < end; ++row, walk.next()) {
      const T* from = source + walk.offsets.from;
      T* to = destination + walk.offsets.to;
      if (contiguous) {
        std::memcpy(to, from, static_cast<std::size_t>(row_bytes));
      } else if (inner.to == 1 && inner.from == 0) {
        std::fill_n(to, inner.size, *from);
      } else {
        for (std::int64_t i = 0; i < inner.size; ++i) to[i * inner.to] = from[i * inner.from];
      }
    }
  });
}

/// The source is contiguous along dimension `cross`, the destination along the last: tile by tile.
template <typename T>
void copy_tiles(kernels::ThreadPool& threads, Copy copy, std::size_t cross, const T* source,
                T* destination) {
  const Dimension across = copy.dimensions[cross];
  const Dimension inner = copy.dimensions[copy.rank - 1];
  // The others number the outer loop; tiles along `across` are part of it, so that a plain matrix
  // is shared among threads too.
  std::copy(copy.dimensions.begin() + static_cast<std::ptrdiff_t>(cross) + 1,
            copy.dimensions.begin() + static_cast<std::ptrdiff_t>(copy.rank) - 1,
            copy.dimensions.begin() + static_cast<std::ptrdiff_t>(cross));
  const std::size_t outer_rank = copy.rank - 2;
  const std::int64_t strips = (across.size + tile - 1) / tile;
  const std::int64_t count = copy.product(outer_rank) * strips;
  const std::int64_t strip_bytes = tile * inner.size * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t grain = std::max<std::int64_t>(1, grain_bytes / strip_bytes);
  threads.parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
    for (std::int64_t index = begin; index < end; ++index) {
      const Copy::Offsets offsets = copy.offsets(index / strips, outer_rank);
      const std::int64_t first = index % strips * tile;
      const std::int64_t height = std::min(tile, across.size - first);
      const T* from = source + offsets.from + first;
      T* to = destination + offsets.to + first * across.to;
      for (std::int64_t column = 0; column < inner.size; column += tile) {
        const std::int64_t width = std::min(tile, inner.size - column);
        for (std::int64_t i = 0; i < height; ++i) {
          const T* in = from + i + column * inner.from;
          T* out = to + i * across.to + column;
          for (std::int64_t j = 0; j < width; ++j) out[j] = in[j * inner.from];
        }
      }
    }
  });
}

}  // namespace

void copy_bytes(kernels::ThreadPool& threads, const std::byte* source, std::byte* destination,
                std::uint64_t bytes) {
  if (source == destination || bytes == 0) return;
  threads.parallel_for(static_cast<std::int64_t>(bytes), grain_bytes * 4,
                       [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
                         std::memcpy(destination + begin, source + begin,
                                     static_cast<std::size_t>(end - begin));
                       });
}

void copy_rows(kernels::ThreadPool& threads, std::int64_t rows, std::int64_t row_bytes,
               const std::byte* source, std::int64_t source_stride, std::byte* destination,
               std::int64_t destination_stride) {
  // In the widest units that everything is a multiple of: short rows are copied unit by unit.
  const std::uint64_t all =
      static_cast<std::uint64_t>(row_bytes) | static_cast<std::uint64_t>(source_stride) |
      static_cast<std::uint64_t>(destination_stride) | reinterpret_cast<std::uintptr_t>(source) |
      reinterpret_cast<std::uintptr_t>(destination) | 8U;
  const std::uint64_t unit = all & (~all + 1);  // the lowest bit set: 1, 2, 4 or 8
  const auto width = static_cast<std::int64_t>(unit);
  const std::array<std::int64_t, 2> sizes{rows, row_bytes / width};
  const std::array<std::int64_t, 2> from{source_stride / width, 1};
  const std::array<std::int64_t, 2> to{destination_stride / width, 1};
  copy_strided(threads, unit, sizes, source, from, destination, to);
}

void copy_strided(kernels::ThreadPool& threads, std::size_t element_bytes,
                  std::span<const std::int64_t> sizes, const std::byte* source,
                  std::span<const std::int64_t> source_strides, std::byte* destination,
                  std::span<const std::int64_t> destination_strides) {
  if (sizes.size() > max_copy_rank) fail_internal("a strided copy of too many dimensions");
  if (std::ranges::find(sizes, 0) != sizes.end()) return;
  const Copy copy(sizes, source_strides, destination_strides);
  const Dimension& inner = copy.dimensions[copy.rank - 1];
  if (copy.rank == 1 && inner.from == 1 && inner.to == 1) {
    copy_bytes(threads, source, destination,
               static_cast<std::uint64_t>(inner.size) * element_bytes);
    return;
  }
  dispatch_width(element_bytes, [&]<typename T>(Tag<T>) {
    const auto* from = reinterpret_cast<const T*>(source);
    auto* to = reinterpret_cast<T*>(destination);
    if (inner.to == 1 && inner.from != 1 && inner.from != 0) {
      for (std::size_t axis = 0; axis + 1 < copy.rank; ++axis) {
        if (copy.dimensions[axis].from == 1) return copy_tiles(threads, copy, axis, from, to);
      }
    }
    copy_runs(threads, copy, from, to);
  });
}

void copy_strided(kernels::ThreadPool& threads, std::size_t element_bytes,
                  std::span<const std::int64_t> sizes, const std::byte* source,
                  std::span<const std::int64_t> source_strides, std::byte* destination) {
  std::array<std::int64_t, max_copy_rank> strides{};
  if (sizes.size() > max_copy_rank) fail_internal("a strided copy of too many dimensions");
  std::int64_t stride = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
  copy_strided(threads, element_bytes, sizes, source, source_strides, destination,
               std::span(strides.data(), sizes.size()));
}

void fill_elements(kernels::ThreadPool& threads, std::size_t element_bytes, const std::byte* value,
                   std::byte* destination, std::int64_t count) {
  dispatch_width(element_bytes, [&]<typename T>(Tag<T>) {
    T element;
    std::memcpy(&element, value, sizeof(T));
    T* to = reinterpret_cast<T*>(destination);
    threads.parallel_for(count, grain_bytes / static_cast<std::int64_t>(sizeof(T)),
                         [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
                           std::fill(to + begin, to + end, element);
                         });
  });
}

}  // namespace plimsoll::tensor
