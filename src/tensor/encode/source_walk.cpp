#include "tensor/encode/source_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

/// Columns of a wide panel: boxes of whole multiples are packed fastest.
constexpr std::int64_t good_multiple = 16;

/// A view's axes of more than one element in the source's order, slowest first, and how many source
/// elements one step of each takes.
struct SourceOrder {
  std::array<std::size_t, Shape::max_rank> axes{};
  std::array<std::int64_t, Shape::max_rank> steps{};
  std::size_t count = 0;

  explicit SourceOrder(const WeightView& view) {
    for (std::size_t axis = 0; axis < view.type.shape.rank(); ++axis) {
      if (view.type.shape[axis] != 1) axes[count++] = axis;
    }
    std::ranges::stable_sort(std::span(axes).first(count), [&](std::size_t a, std::size_t b) {
      return view.strides[a] > view.strides[b];
    });
    std::int64_t step = 1;
    for (std::size_t level = count; level-- > 0;) {
      steps[level] = step;
      step *= view.type.shape[axes[level]];
    }
  }
};

/// The largest box that starts at element `first` of the source and has at most `count` elements.
/// Returns its elements.
std::int64_t next_box(const SourceOrder& order, const Shape& shape, std::int64_t first,
                      std::int64_t count, SourceBox& box) {
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) box.index[axis] = 0;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) box.count[axis] = 1;
  for (std::size_t level = 0; level < order.count; ++level) {
    box.index[order.axes[level]] = first / order.steps[level] % shape[order.axes[level]];
  }
  for (std::size_t level = 0; level < order.count; ++level) {
    const std::int64_t step = order.steps[level];
    if (first % step != 0 || count < step) continue;
    const std::size_t axis = order.axes[level];
    box.count[axis] = std::min(shape[axis] - box.index[axis], count / step);
    for (std::size_t inner = level + 1; inner < order.count; ++inner) {
      box.count[order.axes[inner]] = shape[order.axes[inner]];
    }
    return box.count[axis] * step;
  }
  return 1;
}

/// Elements to read at a time: whole steps of the slowest axis of which some fit.
std::int64_t chunk_elements(const SourceOrder& order, std::int64_t room) {
  for (std::size_t level = 0; level < order.count; ++level) {
    std::int64_t steps = room / order.steps[level];
    if (steps == 0) continue;
    if (steps > good_multiple) steps -= steps % good_multiple;
    return steps * order.steps[level];
  }
  return room;
}

}  // namespace

void walk_source(const WeightView& view, std::span<std::byte> window,
                 const std::function<void(const SourceBox&)>& consume) {
  const StoredTensor& stored = *view.stored;
  const std::int64_t total = view.type.shape.elements();
  if (total == 0) return;
  const std::size_t width = element_size(stored.type);
  const auto room = static_cast<std::int64_t>(window.size() / width);
  if (stored.storage.form == StorageType::Form::varint && room < total) {
    fail_unsupported(fmt::format(
        "tensor '{}' stores {} values as variable-length numbers, more than the window of {} bytes "
        "holds; save the model with raw data",
        stored.name, total, window.size()));
  }
  const SourceOrder order(view);
  const std::int64_t chunk = std::min(total, chunk_elements(order, room));
  SourceBox box;
  for (std::int64_t first = 0; first < total; first += chunk) {
    const std::int64_t count = std::min(chunk, total - first);
    stored.read(first, count, window.data());
    for (std::int64_t done = 0; done < count;) {
      box.data = window.data() + static_cast<std::size_t>(done) * width;
      done += next_box(order, view.type.shape, first + done, count - done, box);
      consume(box);
    }
  }
}

void for_each_run(const WeightView& view, const SourceBox& box,
                  const std::function<void(const SourceRun&)>& consume) {
  const SourceOrder order(view);
  const std::size_t width = element_size(view.stored->type);
  SourceRun run;
  run.index = box.index;
  run.data = box.data;
  run.axis = order.count == 0 ? 0 : order.axes[order.count - 1];
  run.count = order.count == 0 ? 1 : box.count[run.axis];
  for (;;) {
    consume(run);
    run.data += static_cast<std::size_t>(run.count) * width;
    std::size_t level = order.count;
    for (;;) {
      if (level <= 1) return;
      --level;
      const std::size_t axis = order.axes[level - 1];
      if (++run.index[axis] < box.index[axis] + box.count[axis]) break;
      run.index[axis] = box.index[axis];
    }
  }
}

}  // namespace plimsoll::tensor
