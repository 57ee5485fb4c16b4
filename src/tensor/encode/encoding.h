// How a weight lies in memory for its kernels. Why it exists: the plan picks one per weight, knows
// its size beforehand, and two uses with the same encoding share one copy. May touch:
// graph/program.h (views), memory/block.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory/block.h"
#include "tensor/graph/program.h"
#include "tensor/kernels/packing.h"

namespace plimsoll::tensor {

struct Encoding {
  enum class Kind : std::uint8_t {
    plain,      ///< dense, row-major, elements of `element`
    panels,     ///< column panels for packed matmul and convolution (kernels/packed_layout.h)
    depthwise,  ///< [kernel height][kernel width][channels]
  };
  Kind kind = Kind::plain;
  ElementType element = ElementType::undefined;
  std::uint64_t bytes = 0;
  std::int64_t k = 0;            ///< panels: rows of the matrix (taps × channels for a convolution)
  std::int64_t n = 0;            ///< panels: columns; depthwise: channels
  std::int64_t taps = 1;         ///< panels: kernel positions; depthwise: the same
  std::int64_t groups = 1;       ///< panels: independent matrices one after the other
  std::int64_t panel = 0;        ///< panels: columns per panel
  std::int64_t depth_block = 1;  ///< panels: see kernels/packing.h
  bool flip_top_bit = false;     ///< panels of bytes: the same
  bool by_tap = false;           ///< panels: one matrix for each tap, from a view [K, N, taps]

  [[nodiscard]] std::string name() const;  ///< for reports: "f32 plain", "f32 panels of 16"
  friend bool operator==(const Encoding&, const Encoding&) = default;
};

/// The layout of one group's panels.
[[nodiscard]] kernels::PanelLayout panel_layout(const Encoding& encoding);

/// A weight in memory, encoded. Immutable once made; shared by all that use it.
struct EncodedWeight {
  Encoding encoding;
  memory::Block block;          ///< from smallest_block_bytes
  std::vector<std::byte> heap;  ///< below
  [[nodiscard]] const std::byte* data() const {
    return block.data() != nullptr ? block.data() : heap.data();
  }
};

}  // namespace plimsoll::tensor
