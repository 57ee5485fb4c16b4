#include "tensor/plan/arena.h"

#include <algorithm>
#include <numeric>

namespace plimsoll::tensor {
namespace {

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

bool overlap(const BufferLife& a, const BufferLife& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Places buffers in the given order, each at the lowest offset that is free during its life.
ArenaLayout place(std::span<const BufferLife> buffers, std::span<const std::size_t> order) {
  ArenaLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  std::vector<std::size_t> placed;  // sorted by offset
  for (std::size_t index : order) {
    const std::uint64_t need = aligned(buffers[index].bytes);
    if (need == 0) continue;
    std::uint64_t candidate = 0;
    for (std::size_t other : placed) {
      if (!overlap(buffers[index], buffers[other])) continue;
      if (candidate + need <= layout.offsets[other]) break;
      candidate = std::max(candidate, layout.offsets[other] + aligned(buffers[other].bytes));
    }
    layout.offsets[index] = candidate;
    layout.bytes = std::max(layout.bytes, candidate + need);
    const auto position = std::ranges::upper_bound(
        placed, candidate, {}, [&](std::size_t other) { return layout.offsets[other]; });
    placed.insert(position, index);
  }
  return layout;
}

}  // namespace

std::vector<std::uint64_t> live_bytes(std::span<const BufferLife> buffers) {
  std::int32_t steps = 0;
  for (const BufferLife& buffer : buffers) steps = std::max(steps, buffer.last + 1);
  std::vector<std::int64_t> change(static_cast<std::size_t>(steps) + 1, 0);
  for (const BufferLife& buffer : buffers) {
    const auto bytes = static_cast<std::int64_t>(aligned(buffer.bytes));
    change[static_cast<std::size_t>(buffer.first)] += bytes;
    change[static_cast<std::size_t>(buffer.last) + 1] -= bytes;
  }
  std::vector<std::uint64_t> live;
  live.reserve(change.size());
  std::int64_t sum = 0;
  for (std::int64_t delta : change) live.push_back(static_cast<std::uint64_t>(sum += delta));
  return live;
}

ArenaLayout plan_arena(std::span<const BufferLife> buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length = [&](std::size_t index) { return buffers[index].last - buffers[index].first; };

  const std::uint64_t lower_bound = std::ranges::max(live_bytes(buffers));
  ArenaLayout best;
  bool have_best = false;
  const auto attempt = [&] {
    if (have_best && best.bytes == lower_bound) return;
    ArenaLayout layout = place(buffers, order);
    if (!have_best || layout.bytes < best.bytes) best = std::move(layout);
    have_best = true;
  };
  // By size; by the area of size and life; by length; by start. Ties are broken by number, so that
  // the same buffers always give the same layout.
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  attempt();
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return buffers[a].bytes * static_cast<std::uint64_t>(length(a) + 1) >
           buffers[b].bytes * static_cast<std::uint64_t>(length(b) + 1);
  });
  attempt();
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return length(a) != length(b) ? length(a) > length(b) : buffers[a].bytes > buffers[b].bytes;
  });
  attempt();
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return buffers[a].first < buffers[b].first; });
  attempt();
  best.lower_bound = lower_bound;
  return best;
}

}  // namespace plimsoll::tensor
