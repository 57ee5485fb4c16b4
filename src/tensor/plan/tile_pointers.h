// Pointers to the rows of a tile. Why it exists: the kernels take the factors of each row of a
// product by pointer, so that a convolution needs no im2col buffer; this finds them, a line of
// pixels at a time. May touch: product_node.h.
//
// A row of a convolution's product is an output pixel, and it has one pointer for each tap. Where
// the positions of a kernel's row are neighbours in memory and hold few channels, they count as one
// tap, a strip: there are fewer pointers to find, and the kernel's inner loop is longer. Taps that
// are padding point at zeros; strips that hang over the image's edge are copied.
#pragma once

#include <cstdint>

#include "tensor/plan/product_node.h"

namespace plimsoll::tensor {

/// For one thread. Nothing is owned: the operands and the memory outlive it.
class TilePointers {
 public:
  /// Memory that one thread needs, a multiple of 64.
  [[nodiscard]] static std::uint64_t bytes(const ProductNode& node);

  /// `zeros`: node.summed_depth() floats. `memory`: bytes(node), aligned to 64.
  TilePointers(const ProductNode& node, const KernelContext& context, const float* zeros,
               std::byte* memory);

  /// Finds the pointers for rows (output pixels; of a transposed convolution, input pixels) start
  /// to start + count, at most a tile's. `matrix`: the tap of a transposed convolution, else the
  /// group.
  void point(std::int64_t start, std::int64_t count, std::int64_t matrix);

  [[nodiscard]] const float* const* rows() const { return rows_; }
  [[nodiscard]] float* const* outputs() const { return outputs_; }
  /// Null where there are none.
  [[nodiscard]] const float* const* residuals() const { return residuals_; }

 private:
  /// Pixels of one line: rows first to first + count of the tile, from pixel x.
  struct Line {
    std::int64_t n = 0;
    std::int64_t y = 0;
    std::int64_t x = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  /// Floats from pixel to pixel of the input.
  [[nodiscard]] std::int64_t pixel_stride() const { return node_.depth * node_.groups; }
  void point_product(std::int64_t start, std::int64_t count);
  void point_transposed(const Line& line, std::int64_t tap);
  void point_line(const Line& line);
  /// Output pixels x, x + step, … of row y.
  void point_outputs(const Line& line, std::int64_t y, std::int64_t x, std::int64_t step);
  void point_taps(const Line& line, std::int64_t ky, const float* row);
  void point_strip(const Line& line, std::int64_t ky, const float* row);
  [[nodiscard]] const float* copy_edge(std::int64_t slot, const float* row, std::int64_t x) const;

  const ProductNode& node_;
  const KernelContext& context_;
  const float* zeros_;
  std::int64_t max_rows_;
  const float** rows_;
  float** outputs_ = nullptr;
  const float** residuals_ = nullptr;
  float* edges_ = nullptr;  ///< [kernel rows][rows of a tile][strip]
  std::int64_t count_ = 0;  ///< rows of the tile
  std::int64_t group_ = 0;
};

}  // namespace plimsoll::tensor
