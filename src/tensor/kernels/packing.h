// Where an element of a packed matrix is. Why it exists: the encoder and the kernels must agree on
// it. May touch: nothing.
//
// B is K×N and lies in panels of `panel` columns, each panel K rows of `panel` elements:
//
//   panel 0: b[0][0..P) b[1][0..P) … b[K-1][0..P)   panel 1: b[0][P..2P) …
//
// The last panel is padded with zeros. Panels are read forward by the kernels; the same panels
// serve one row and many.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plimsoll::tensor::kernels {

struct PanelLayout {
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::int64_t panel = 1;
  std::size_t element_bytes = 4;

  [[nodiscard]] std::int64_t panels() const { return (n + panel - 1) / panel; }
  [[nodiscard]] std::int64_t element(std::int64_t row, std::int64_t column) const {
    return (column / panel * k + row) * panel + column % panel;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(panels() * panel * k) * element_bytes;
  }
};

}  // namespace plimsoll::tensor::kernels
