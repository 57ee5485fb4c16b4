// Where an element of a packed matrix is, and how one is filled from its source. Why it exists: the
// encoder and the kernels must agree on it. May touch: nothing.
//
// B is K×N and lies in panels of P columns; each panel holds K rows of P elements:
//
//   panel 0: b[0][0..P) b[1][0..P) … b[K-1][0..P)   panel 1: b[0][P..2P) …
//
// With a depth block D above 1 (integer products), D neighbours in depth lie together:
//
//   panel 0: b[0..D)[0] b[0..D)[1] … b[0..D)[P-1]   b[D..2D)[0] …
//
// The last panel is padded with zeros, and so is the depth of each tap up to a whole block. Panels
// are read forward by the kernels; the same panels serve one row and many. P depends on the target
// alone, D on the kind of product.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plimsoll::tensor::kernels {

struct PanelLayout {
  std::int64_t k = 0;  ///< rows, a multiple of depth_block: see padded_depth
  std::int64_t n = 0;
  std::int64_t panel = 1;
  std::size_t element_bytes = 4;
  std::int64_t depth_block = 1;

  [[nodiscard]] std::int64_t panels() const { return (n + panel - 1) / panel; }
  [[nodiscard]] std::int64_t element(std::int64_t row, std::int64_t column) const {
    return (column / panel * k + row / depth_block * depth_block) * panel +
           column % panel * depth_block + row % depth_block;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(panels() * panel * k) * element_bytes;
  }
  /// Rows that `taps` taps of `depth` take.
  [[nodiscard]] static std::int64_t padded_depth(std::int64_t taps, std::int64_t depth,
                                                 std::int64_t depth_block) {
    return taps * ((depth + depth_block - 1) / depth_block * depth_block);
  }
};

/// Part of a source matrix in memory: element (tap, depth, column) of the part is at `data` plus
/// tap·tap_stride + depth·depth_stride + column·column_stride elements.
struct PackSource {
  const void* data = nullptr;
  std::int64_t tap_stride = 0;
  std::int64_t depth_stride = 0;
  std::int64_t column_stride = 0;
  /// Flips the top bit of each byte: unsigned bytes become the signed ones that integer products
  /// multiply. Only for elements of one byte.
  bool flip_top_bit = false;
};

/// Where the part lies in the packed matrix, and its sizes. A product has one tap.
struct PackRange {
  std::int64_t first_tap = 0;
  std::int64_t taps = 1;
  std::int64_t first_depth = 0;
  std::int64_t depth = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;
};

/// Writes one part of the packed matrix at `panels`. `tap_rows`: rows of a tap in the layout, whole
/// depth blocks; layout.k where there is one tap. Nothing else is written: memory for panels starts
/// zeroed, and parts may come in any order. Elements of 1, 2 and 4 bytes; fast where the column or
/// the depth stride is 1, as in [K, N] and [N, K], and for a convolution's [O, I, taps].
void pack(const PanelLayout& layout, std::int64_t tap_rows, const PackSource& source,
          const PackRange& range, void* panels);

}  // namespace plimsoll::tensor::kernels
