#include "tensor/encode/source_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plimsoll/error.h"

namespace plimsoll::tensor {

void walk_source(const WeightView& view, std::span<std::byte> window,
                 const std::function<void(const SourceRun&)>& consume) {
  const StoredTensor& stored = *view.stored;
  const Shape& shape = view.type.shape;
  const std::int64_t total = shape.elements();
  if (total == 0) return;
  const std::size_t width = element_size(stored.type);
  // A view of a dense tensor: its axes, sorted by stride, are the source's order.
  std::array<std::size_t, Shape::max_rank> order{};
  std::iota(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shape.rank()), 0U);
  const auto axes = std::span(order).first(shape.rank());
  std::ranges::stable_sort(
      axes, [&](std::size_t a, std::size_t b) { return view.strides[a] > view.strides[b]; });
  // Axes of size 1 have arbitrary strides and must not come last.
  const auto tail =
      std::ranges::stable_partition(axes, [&](std::size_t axis) { return shape[axis] == 1; });
  (void)tail;

  const std::size_t fast = axes.empty() ? 0 : axes.back();
  const std::int64_t row = axes.empty() ? 1 : shape[fast];
  std::int64_t chunk = static_cast<std::int64_t>(window.size() / width);
  if (stored.storage.form == StorageType::Form::varint && chunk < total) {
    fail_unsupported(fmt::format(
        "tensor '{}' stores {} values as variable-length numbers, more than the window of {} bytes "
        "holds; save the model with raw data",
        stored.name, total, window.size()));
  }
  if (chunk >= row) chunk = chunk / row * row;
  SourceRun run;
  run.axis = fast;
  for (std::int64_t first = 0; first < total;) {
    const std::int64_t count = std::min(chunk, total - first);
    stored.read(first, count, window.data());
    std::int64_t done = 0;
    while (done < count) {
      const std::int64_t left_in_row = axes.empty() ? 1 : row - run.index[fast];
      run.count = std::min(left_in_row, count - done);
      run.data = window.data() + static_cast<std::size_t>(done) * width;
      consume(run);
      done += run.count;
      if (axes.empty()) break;
      run.index[fast] += run.count;
      for (std::size_t level = axes.size(); level-- > 0;) {
        if (run.index[axes[level]] < shape[axes[level]]) break;
        run.index[axes[level]] = 0;
        if (level > 0) ++run.index[axes[level - 1]];
      }
    }
    first += count;
  }
}

}  // namespace plimsoll::tensor
