#include "tensor/plan/tile_pointers.h"

#include <algorithm>

namespace plimsoll::tensor {
namespace {

std::uint64_t aligned(std::int64_t bytes) {
  return (static_cast<std::uint64_t>(bytes) + 63) / 64 * 64;
}

/// One list of a tile's pointers.
std::uint64_t list_bytes(const ProductNode& node) {
  return static_cast<std::uint64_t>(kernels::kernel_table(node.target).max_rows) * sizeof(void*);
}
std::uint64_t pointer_bytes(const ProductNode& node) {
  return (static_cast<std::uint64_t>(node.summed_taps() + 2) * list_bytes(node) + 63) / 64 * 64;
}

}  // namespace

std::uint64_t TilePointers::bytes(const ProductNode& node) {
  if (!node.takes_strips()) return pointer_bytes(node);
  return pointer_bytes(node) +
         aligned(node.window.kernel_height * kernels::kernel_table(node.target).max_rows *
                 node.summed_depth() * static_cast<std::int64_t>(sizeof(float)));
}

TilePointers::TilePointers(const ProductNode& node, const KernelContext& context,
                           const float* zeros, std::byte* memory)
    : node_(node),
      context_(context),
      zeros_(zeros),
      max_rows_(kernels::kernel_table(node.target).max_rows),
      rows_(reinterpret_cast<const float**>(memory)) {
  std::byte* lists = memory + static_cast<std::uint64_t>(node.summed_taps()) * list_bytes(node);
  outputs_ = reinterpret_cast<float**>(lists);
  if (node.epilogue.has_residual) {
    residuals_ = reinterpret_cast<const float**>(lists + list_bytes(node));
  }
  edges_ = reinterpret_cast<float*>(memory + pointer_bytes(node));
}

void TilePointers::point(std::int64_t start, std::int64_t count, std::int64_t matrix) {
  if (!node_.convolution) {
    point_product(start, count);
    return;
  }
  count_ = count;
  group_ = node_.transposed ? 0 : matrix;
  const KernelOperand& image = node_.transposed ? context_.inputs[0] : context_.outputs[0];
  const std::int64_t height = image.type.shape[1];
  const std::int64_t width = image.type.shape[2];
  Line line;
  line.x = start % width;
  line.y = start / width % height;
  line.n = start / width / height;
  while (line.first < count) {
    line.count = std::min(count - line.first, width - line.x);
    if (node_.transposed) {
      point_transposed(line, matrix);
    } else {
      point_line(line);
    }
    line.first += line.count;
    line.x = 0;
    if (++line.y == height) {
      line.y = 0;
      ++line.n;
    }
  }
}

void TilePointers::point_product(std::int64_t start, std::int64_t count) {
  const float* a = reinterpret_cast<const float*>(context_.inputs[0].data) + start * node_.depth;
  const std::int64_t stride = node_.result_stride == 0 ? node_.columns : node_.result_stride;
  const std::int64_t at = start * stride + node_.first_column;
  float* c = reinterpret_cast<float*>(context_.outputs[0].data) + at;
  for (std::int64_t r = 0; r < count; ++r) rows_[r] = a + r * node_.depth;
  for (std::int64_t r = 0; r < count; ++r) outputs_[r] = c + r * stride;
  if (residuals_ == nullptr) return;
  const auto* rest = reinterpret_cast<const float*>(context_.inputs[2].data) + at;
  for (std::int64_t r = 0; r < count; ++r) residuals_[r] = rest + r * stride;
}

void TilePointers::point_outputs(const Line& line, std::int64_t y, std::int64_t x,
                                 std::int64_t step) {
  const std::int64_t first = x * node_.columns + group_ * node_.matrix_columns();
  float* to = image_row(context_.outputs[0], line.n, y) + first;
  for (std::int64_t i = 0; i < line.count; ++i) {
    outputs_[line.first + i] = to + i * step * node_.columns;
  }
  if (residuals_ == nullptr) return;
  const float* rest = image_row(context_.inputs[2], line.n, y) + first;
  for (std::int64_t i = 0; i < line.count; ++i) {
    residuals_[line.first + i] = rest + i * step * node_.columns;
  }
}

void TilePointers::point_transposed(const Line& line, std::int64_t tap) {
  const ImageWindow& window = node_.window;
  const float* row = image_row(context_.inputs[0], line.n, line.y) + line.x * node_.depth;
  for (std::int64_t i = 0; i < line.count; ++i) rows_[line.first + i] = row + i * node_.depth;
  point_outputs(line, line.y * window.kernel_height + tap / window.kernel_width,
                line.x * window.kernel_width + tap % window.kernel_width, window.kernel_width);
}

void TilePointers::point_line(const Line& line) {
  const ImageWindow& window = node_.window;
  point_outputs(line, line.y, line.x, 1);
  const std::int64_t height = context_.inputs[0].type.shape[1];
  for (std::int64_t ky = 0; ky < window.kernel_height; ++ky) {
    const std::int64_t y = line.y * window.stride_y - window.pad_top + ky * window.dilation_y;
    const float* row = y < 0 || y >= height ? nullptr : image_row(context_.inputs[0], line.n, y);
    if (node_.takes_strips()) {
      point_strip(line, ky, row);
    } else {
      point_taps(line, ky, row);
    }
  }
}

void TilePointers::point_taps(const Line& line, std::int64_t ky, const float* row) {
  const ImageWindow& window = node_.window;
  const std::int64_t width = context_.inputs[0].type.shape[2];
  const std::int64_t stride = pixel_stride();
  if (row != nullptr) row += group_ * node_.depth;
  for (std::int64_t kx = 0; kx < window.kernel_width; ++kx) {
    const float** to = rows_ + (ky * window.kernel_width + kx) * count_ + line.first;
    std::int64_t x = line.x * window.stride_x - window.pad_left + kx * window.dilation_x;
    if (row != nullptr && x >= 0 && x + (line.count - 1) * window.stride_x < width) {
      const float* from = row + x * stride;
      for (std::int64_t i = 0; i < line.count; ++i) to[i] = from + i * window.stride_x * stride;
      continue;
    }
    for (std::int64_t i = 0; i < line.count; ++i, x += window.stride_x) {
      to[i] = row == nullptr || x < 0 || x >= width ? zeros_ : row + x * stride;
    }
  }
}

void TilePointers::point_strip(const Line& line, std::int64_t ky, const float* row) {
  const ImageWindow& window = node_.window;
  const std::int64_t last = context_.inputs[0].type.shape[2] - window.kernel_width;
  const float** to = rows_ + ky * count_ + line.first;
  std::int64_t x = line.x * window.stride_x - window.pad_left;
  for (std::int64_t i = 0; i < line.count; ++i, x += window.stride_x) {
    if (row == nullptr) {
      to[i] = zeros_;
    } else if (x >= 0 && x <= last) {
      to[i] = row + x * node_.depth;
    } else {
      to[i] = copy_edge(ky * max_rows_ + line.first + i, row, x);
    }
  }
}

const float* TilePointers::copy_edge(std::int64_t slot, const float* row, std::int64_t x) const {
  const std::int64_t width = context_.inputs[0].type.shape[2];
  float* const strip = edges_ + slot * node_.summed_depth();
  float* to = strip;
  for (std::int64_t kx = 0; kx < node_.window.kernel_width; ++kx, ++x) {
    if (x < 0 || x >= width) {
      to = std::fill_n(to, node_.depth, 0.0F);
    } else {
      to = std::copy_n(row + x * node_.depth, node_.depth, to);
    }
  }
  return strip;
}

}  // namespace plimsoll::tensor
