#include "tensor/encode/encode_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plimsoll/error.h"
#include "tensor/kernels/packing.h"

namespace plimsoll::tensor {
namespace {

/// The part of the source that one column range is: lines of neighbouring elements, which are rows
/// of the view, or columns where the source is the weight's transpose.
struct Lines {
  bool are_columns = false;
  std::int64_t first = 0;   ///< source element that the first line begins with
  std::int64_t step = 0;    ///< source elements from line to line
  std::int64_t length = 0;  ///< elements of a line
  std::int64_t count = 0;
};

Lines lines_of(const WeightView& view, std::int64_t first, std::int64_t count) {
  const std::int64_t depth = view.type.shape[0];
  if (view.strides[1] == 1) return {false, first, view.strides[0], count, depth};
  if (view.strides[0] == 1) return {true, first * view.strides[1], view.strides[1], depth, count};
  fail_internal("a product's weight has no axis of neighbouring elements");
}

/// Part of a line or several whole lines, in the window.
struct Piece {
  std::int64_t line = 0;
  std::int64_t lines = 1;
  std::int64_t at = 0;  ///< within the line
  std::int64_t length = 0;
};

kernels::PackRange range_of(const Lines& lines, const Piece& piece) {
  kernels::PackRange range;
  range.first_depth = lines.are_columns ? piece.at : piece.line;
  range.depth = lines.are_columns ? piece.length : piece.lines;
  range.first_column = lines.are_columns ? piece.line : piece.at;
  range.columns = lines.are_columns ? piece.lines : piece.length;
  return range;
}

void encode_lines(const StoredTensor& stored, const Lines& lines, const Encoding& part,
                  std::span<std::byte> window, std::byte* destination) {
  const std::size_t width = element_size(stored.type);
  const auto room = static_cast<std::int64_t>(window.size() / width);
  const kernels::PanelLayout layout = panel_layout(part);
  Piece piece;
  piece.length = std::min(lines.length, room);
  for (piece.line = 0; piece.line < lines.count; piece.line += piece.lines) {
    piece.lines = std::clamp<std::int64_t>(room / lines.length, 1, lines.count - piece.line);
    for (piece.at = 0; piece.at < lines.length; piece.at += piece.length) {
      piece.length = std::min(lines.length - piece.at, room);
      const std::int64_t begin = lines.first + piece.line * lines.step + piece.at;
      if (lines.step == lines.length) {
        stored.read(begin, piece.lines * piece.length, window.data());
      } else {
        for (std::int64_t line = 0; line < piece.lines; ++line) {
          stored.read(begin + line * lines.step, piece.length,
                      window.data() + static_cast<std::size_t>(line * piece.length) * width);
        }
      }
      kernels::PackSource source;
      source.data = window.data();
      source.depth_stride = lines.are_columns ? 1 : piece.length;
      source.column_stride = lines.are_columns ? piece.length : 1;
      kernels::pack(layout, part.k, source, range_of(lines, piece), destination);
    }
  }
}

}  // namespace

Encoding column_encoding(const Encoding& whole, std::int64_t count) {
  Encoding part = whole;
  part.n = count;
  part.bytes = panel_layout(part).bytes();
  return part;
}

void encode_columns(const WeightView& view, const Encoding& whole, std::int64_t first,
                    std::int64_t count, std::span<std::byte> window, std::byte* destination) {
  const Encoding part = column_encoding(whole, count);
  std::memset(destination, 0, part.bytes);  // the last panel's padding
  try {
    encode_lines(*view.stored, lines_of(view, first, count), part, window, destination);
  } catch (Error& error) {
    error.add_context(fmt::format("weight '{}'", view.stored->name));
    throw;
  }
}

}  // namespace plimsoll::tensor
