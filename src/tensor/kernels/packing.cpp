#include "tensor/kernels/packing.h"

#include <algorithm>
#include <cstring>

namespace plimsoll::tensor::kernels {
namespace {

/// Depth that is packed before the next panel's turn: long enough to write whole pages' worth of
/// cache lines in order, short enough that the source's lines stay in the first-level cache.
constexpr std::int64_t depth_step = 32;

/// Part of one panel: columns [0, columns) of it, at `to`, which is the panel's first row of the
/// part.
struct PanelPart {
  const std::byte* from = nullptr;
  std::int64_t depth_stride = 0;
  std::int64_t column_stride = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  std::byte* to = nullptr;
  std::int64_t panel = 0;
};

template <typename T>
T read(const std::byte* from, std::int64_t index) {
  T value;
  std::memcpy(&value, from + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <typename T>
void write(std::byte* to, std::int64_t index, T value) {
  std::memcpy(to + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Rows whose columns are neighbours: copies of a vector's width, known for whole panels.
template <std::size_t bytes>
void copy_rows_of(const PanelPart& part, std::size_t width) {
  const std::int64_t row = part.depth_stride * static_cast<std::int64_t>(width);
  for (std::int64_t k = 0; k < part.depth; ++k) {
    std::memcpy(part.to + k * static_cast<std::int64_t>(bytes), part.from + k * row, bytes);
  }
}
void copy_rows(const PanelPart& part, std::size_t width) {
  const std::size_t bytes = static_cast<std::size_t>(part.columns) * width;
  const std::size_t pitch = static_cast<std::size_t>(part.panel) * width;
  if (bytes == pitch) {
    switch (bytes) {
      case 8:
        return copy_rows_of<8>(part, width);
      case 16:
        return copy_rows_of<16>(part, width);
      case 32:
        return copy_rows_of<32>(part, width);
      case 64:
        return copy_rows_of<64>(part, width);
      default:
        break;
    }
  }
  const std::int64_t row = part.depth_stride * static_cast<std::int64_t>(width);
  for (std::int64_t k = 0; k < part.depth; ++k) {
    std::memcpy(part.to + k * static_cast<std::int64_t>(pitch), part.from + k * row, bytes);
  }
}

using Words = std::uint32_t __attribute__((vector_size(16)));
using Shorts = std::uint16_t __attribute__((vector_size(16)));

template <typename T>
struct Square;

/// 4×4 of four bytes.
template <>
struct Square<std::uint32_t> {
  static constexpr std::int64_t side = 4;
  static void transpose(const std::byte* from, std::int64_t pitch, std::byte* to,
                        std::int64_t to_pitch) {
    Words rows[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&rows[i], from + i * pitch, 16);
    const Words a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
    const Words b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
    const Words c = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
    const Words d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    const Words out[4] = {
        __builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
        __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
    for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_pitch, &out[i], 16);
  }
};

/// 8×8 of two bytes: three rounds of interleaving rows i and i + 4.
template <>
struct Square<std::uint16_t> {
  static constexpr std::int64_t side = 8;
  static void transpose(const std::byte* from, std::int64_t pitch, std::byte* to,
                        std::int64_t to_pitch) {
    Shorts rows[8];
    for (int i = 0; i < 8; ++i) std::memcpy(&rows[i], from + i * pitch, 16);
    for (int round = 0; round < 3; ++round) {
      Shorts next[8];
      for (int i = 0; i < 4; ++i) {
        next[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
        next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
      }
      for (int i = 0; i < 8; ++i) rows[i] = next[i];
    }
    for (int i = 0; i < 8; ++i) std::memcpy(to + i * to_pitch, &rows[i], 16);
  }
};

template <typename T>
void copy_elements(const PanelPart& part, std::int64_t first_depth, std::int64_t first_column) {
  for (std::int64_t k = first_depth; k < part.depth; ++k) {
    for (std::int64_t c = first_column; c < part.columns; ++c) {
      write<T>(part.to, k * part.panel + c,
               read<T>(part.from, k * part.depth_stride + c * part.column_stride));
    }
  }
}

/// Columns whose depth is neighbours, in squares, and what is left by element.
template <typename T>
void transpose_part(const PanelPart& part) {
  constexpr std::int64_t width = sizeof(T);
  constexpr std::int64_t side = Square<T>::side;
  const std::int64_t columns = part.columns / side * side;
  const std::int64_t depth = part.depth / side * side;
  for (std::int64_t k = 0; k < depth; k += side) {
    for (std::int64_t c = 0; c < columns; c += side) {
      Square<T>::transpose(part.from + (k + c * part.column_stride) * width,
                           part.column_stride * width, part.to + (k * part.panel + c) * width,
                           part.panel * width);
    }
  }
  PanelPart right = part;
  right.depth = depth;
  copy_elements<T>(right, 0, columns);
  copy_elements<T>(part, depth, 0);
}

void pack_part(const PanelPart& part, std::size_t width) {
  if (part.column_stride == 1) return copy_rows(part, width);
  switch (width) {
    case 4:
      return part.depth_stride == 1 ? transpose_part<std::uint32_t>(part)
                                    : copy_elements<std::uint32_t>(part, 0, 0);
    case 2:
      return part.depth_stride == 1 ? transpose_part<std::uint16_t>(part)
                                    : copy_elements<std::uint16_t>(part, 0, 0);
    default:
      return copy_elements<std::uint8_t>(part, 0, 0);
  }
}

/// One tap without depth blocks.
void pack_tap(const PanelLayout& layout, const PackSource& source, const std::byte* from,
              std::int64_t first_row, const PackRange& range, std::byte* panels) {
  const auto width = static_cast<std::int64_t>(layout.element_bytes);
  const std::int64_t end = range.first_column + range.columns;
  // In steps of depth, since a source of rows is read by rows and a panel is written by panel.
  for (std::int64_t k = 0; k < range.depth; k += depth_step) {
    for (std::int64_t column = range.first_column; column < end;) {
      const std::int64_t panel_end = (column / layout.panel + 1) * layout.panel;
      PanelPart part;
      part.from =
          from +
          (k * source.depth_stride + (column - range.first_column) * source.column_stride) * width;
      part.depth_stride = source.depth_stride;
      part.column_stride = source.column_stride;
      part.depth = std::min(depth_step, range.depth - k);
      part.columns = std::min(end, panel_end) - column;
      part.to = panels + layout.element(first_row + k, column) * width;
      part.panel = layout.panel;
      pack_part(part, layout.element_bytes);
      column += part.columns;
    }
  }
}

/// A convolution's taps together, a few channels at a time: its source [O, I, taps] has the taps
/// as neighbours, so taps one by one would read each cache line as often as there are taps.
void pack_taps(const PanelLayout& layout, std::int64_t tap_rows, const PackSource& source,
               const PackRange& range, std::byte* panels) {
  const auto width = static_cast<std::int64_t>(layout.element_bytes);
  const auto* data = static_cast<const std::byte*>(source.data);
  const std::int64_t end = range.first_column + range.columns;
  for (std::int64_t column = range.first_column; column < end;) {
    const std::int64_t next = std::min(end, (column / layout.panel + 1) * layout.panel);
    for (std::int64_t k = 0; k < range.depth; k += depth_step) {
      PackRange block = range;
      block.first_column = column;
      block.columns = next - column;
      block.depth = std::min(depth_step, range.depth - k);
      for (std::int64_t tap = 0; tap < range.taps; ++tap) {
        const std::byte* from = data + (tap * source.tap_stride + k * source.depth_stride +
                                        (column - range.first_column) * source.column_stride) *
                                           width;
        pack_tap(layout, source, from, (range.first_tap + tap) * tap_rows + range.first_depth + k,
                 block, panels);
      }
    }
    column = next;
  }
}

/// Bytes in depth blocks, element by element.
void pack_blocks(const PanelLayout& layout, std::int64_t tap_rows, const PackSource& source,
                 const PackRange& range, std::byte* panels) {
  const auto* data = static_cast<const std::byte*>(source.data);
  const std::byte flip{source.flip_top_bit ? std::uint8_t{0x80} : std::uint8_t{0}};
  // The source is read along its shorter stride.
  const bool by_column = source.column_stride <= source.depth_stride;
  const std::int64_t outer = by_column ? range.depth : range.columns;
  const std::int64_t inner = by_column ? range.columns : range.depth;
  for (std::int64_t tap = 0; tap < range.taps; ++tap) {
    const std::int64_t first_row = (range.first_tap + tap) * tap_rows + range.first_depth;
    for (std::int64_t i = 0; i < outer; ++i) {
      for (std::int64_t j = 0; j < inner; ++j) {
        const std::int64_t k = by_column ? i : j;
        const std::int64_t c = by_column ? j : i;
        panels[layout.element(first_row + k, range.first_column + c)] =
            data[tap * source.tap_stride + k * source.depth_stride + c * source.column_stride] ^
            flip;
      }
    }
  }
}

}  // namespace

void pack(const PanelLayout& layout, std::int64_t tap_rows, const PackSource& source,
          const PackRange& range, void* panels) {
  auto* to = static_cast<std::byte*>(panels);
  if (layout.element_bytes == 1 && (layout.depth_block > 1 || source.flip_top_bit)) {
    pack_blocks(layout, tap_rows, source, range, to);
  } else if (range.taps == 1) {
    pack_tap(layout, source, static_cast<const std::byte*>(source.data),
             range.first_tap * tap_rows + range.first_depth, range, to);
  } else {
    pack_taps(layout, tap_rows, source, range, to);
  }
}

}  // namespace plimsoll::tensor::kernels
