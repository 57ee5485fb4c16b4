// Reading a weight in the order of its source, through a bounded window. Why it exists: whatever
// layout the destination has, a file is read forward and each byte once. May touch:
// graph/program.h, memory/block.h.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "tensor/graph/program.h"

namespace plimsoll::tensor {

/// Elements [index, index + count) of a view along each axis, which are neighbours in the source:
/// element (i, j, …) of the box is at `data` plus Σ i·view.strides elements of the stored type.
struct SourceBox {
  std::array<std::int64_t, Shape::max_rank> index{};
  std::array<std::int64_t, Shape::max_rank> count{};
  const std::byte* data = nullptr;
};

/// Calls `consume` for boxes that cover `view`, in source order, each as large as the window
/// allows. The window is the staging memory; at least 4 KiB. Varint storage is decoded whole, so
/// such tensors must fit in the window: Error(unsupported) names one that does not.
void walk_source(const WeightView& view, std::span<std::byte> window,
                 const std::function<void(const SourceBox&)>& consume);

/// `count` elements of a box that are neighbours along view axis `axis`, starting at `index`.
struct SourceRun {
  std::array<std::int64_t, Shape::max_rank> index{};
  std::size_t axis = 0;
  std::int64_t count = 0;
  const std::byte* data = nullptr;  ///< elements of the stored type
};

/// Calls `consume` for every run of a box, in source order.
void for_each_run(const WeightView& view, const SourceBox& box,
                  const std::function<void(const SourceRun&)>& consume);

}  // namespace plimsoll::tensor
