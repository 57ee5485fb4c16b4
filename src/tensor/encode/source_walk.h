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

/// `count` consecutive source elements, which are consecutive along view axis `axis` starting at
/// `index`.
struct SourceRun {
  std::array<std::int64_t, Shape::max_rank> index{};
  std::size_t axis = 0;
  std::int64_t count = 0;
  const std::byte* data = nullptr;  ///< elements of the stored tensor's type
};

/// Calls `consume` for every run of `view`, in source order. The window is the staging memory; at
/// least 4 KiB. Varint storage is decoded whole, so such tensors must fit in the window: Error
/// (unsupported) names one that does not.
void walk_source(const WeightView& view, std::span<std::byte> window,
                 const std::function<void(const SourceRun&)>& consume);

}  // namespace plimsoll::tensor
