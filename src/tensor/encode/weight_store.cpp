#include "tensor/encode/weight_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "plimsoll/error.h"
#include "tensor/encode/source_walk.h"
#include "tensor/graph/half.h"
#include "tensor/kernels/packing.h"

namespace plimsoll::tensor {
namespace {

/// Copies `count` elements that lie `stride` apart in the destination, widening where the graph
/// casts a half-precision weight to f32.
void scatter(const std::byte* source, ElementType from, std::byte* destination, ElementType to,
             std::int64_t stride, std::int64_t count) {
  if (from == to) {
    const std::size_t width = element_size(to);
    if (stride == 1) {
      std::memcpy(destination, source, static_cast<std::size_t>(count) * width);
      return;
    }
    for (std::int64_t index = 0; index < count; ++index) {
      std::memcpy(destination + static_cast<std::size_t>(index * stride) * width,
                  source + static_cast<std::size_t>(index) * width, width);
    }
    return;
  }
  if (to != ElementType::f32 || (from != ElementType::f16 && from != ElementType::bf16)) {
    fail_internal("a weight's view can only widen to f32");
  }
  auto* out = reinterpret_cast<float*>(destination);
  for (std::int64_t index = 0; index < count; ++index) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, source + index * 2, 2);
    out[index * stride] =
        from == ElementType::f16 ? to_float(Float16{bits}) : to_float(BFloat16{bits});
  }
}

void encode_plain(const WeightView& view, std::span<std::byte> window, std::byte* destination) {
  const ElementType from = view.stored->type;
  const ElementType to = view.type.element;
  if (view.dense() && from == to) {
    view.stored->read(0, view.type.shape.elements(), destination);
    return;
  }
  std::array<std::int64_t, Shape::max_rank> strides{};
  std::int64_t stride = 1;
  for (std::size_t axis = view.type.shape.rank(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= view.type.shape[axis];
  }
  walk_source(view, window, [&](const SourceRun& run) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < view.type.shape.rank(); ++axis) {
      at += run.index[axis] * strides[axis];
    }
    scatter(run.data, from, destination + static_cast<std::size_t>(at) * element_size(to), to,
            strides[run.axis], run.count);
  });
}

/// The k and n of a view's element in the packed matrix of its group. Views are [K, N] for a
/// product, [O, I, taps…] for a convolution (reshaped to three axes).
void encode_panels(const WeightView& view, const Encoding& encoding, std::span<std::byte> window,
                   std::byte* destination) {
  const ElementType from = view.stored->type;
  const kernels::PanelLayout layout = panel_layout(encoding);
  const bool convolution = view.type.shape.rank() == 3;
  const std::int64_t columns = encoding.n;
  const std::int64_t channels = encoding.k / encoding.taps;
  const std::uint64_t group_bytes = layout.bytes();
  const std::size_t width = element_size(encoding.element);
  walk_source(view, window, [&](const SourceRun& run) {
    for (std::int64_t index = 0; index < run.count; ++index) {
      std::int64_t k = 0;
      std::int64_t n = 0;
      std::int64_t group = 0;
      if (convolution) {
        const std::int64_t o = run.index[0] + (run.axis == 0 ? index : 0);
        const std::int64_t i = run.index[1] + (run.axis == 1 ? index : 0);
        const std::int64_t t = run.index[2] + (run.axis == 2 ? index : 0);
        if (encoding.by_tap) {
          group = t;
          n = i;
          k = o;
        } else {
          group = o / columns;
          n = o % columns;
          k = t * channels + i;
        }
      } else {
        k = run.index[0] + (run.axis == 0 ? index : 0);
        n = run.index[1] + (run.axis == 1 ? index : 0);
      }
      std::byte* to = destination + static_cast<std::uint64_t>(group) * group_bytes +
                      static_cast<std::size_t>(layout.element(k, n)) * width;
      scatter(run.data + static_cast<std::size_t>(index) * element_size(from), from, to,
              encoding.element, 1, 1);
    }
  });
}

/// [C, 1, taps] → [taps][C].
void encode_depthwise(const WeightView& view, const Encoding& encoding, std::span<std::byte> window,
                      std::byte* destination) {
  const std::size_t width = element_size(encoding.element);
  walk_source(view, window, [&](const SourceRun& run) {
    for (std::int64_t index = 0; index < run.count; ++index) {
      const std::int64_t c = run.index[0] + (run.axis == 0 ? index : 0);
      const std::int64_t t = run.index[2] + (run.axis == 2 ? index : 0);
      scatter(run.data + static_cast<std::size_t>(index) * element_size(view.stored->type),
              view.stored->type, destination + static_cast<std::size_t>(t * encoding.n + c) * width,
              encoding.element, 1, 1);
    }
  });
}

}  // namespace

kernels::PanelLayout panel_layout(const Encoding& encoding) {
  return {encoding.k, encoding.n, encoding.panel, element_size(encoding.element)};
}

void encode_weight(const WeightView& view, const Encoding& encoding, std::span<std::byte> window,
                   std::byte* destination) {
  try {
    switch (encoding.kind) {
      case Encoding::Kind::plain:
        encode_plain(view, window, destination);
        return;
      case Encoding::Kind::panels:
        encode_panels(view, encoding, window, destination);
        return;
      case Encoding::Kind::depthwise:
        encode_depthwise(view, encoding, window, destination);
        return;
    }
  } catch (Error& error) {
    error.add_context(fmt::format("weight '{}'", view.stored->name));
    throw;
  }
}

std::string Encoding::name() const {
  switch (kind) {
    case Kind::plain:
      return fmt::format("{} plain", element_name(element));
    case Kind::panels:
      return fmt::format("{} panels of {}", element_name(element), panel);
    case Kind::depthwise:
      return fmt::format("{} taps by channels", element_name(element));
  }
  return {};
}

WeightStore::WeightStore(std::shared_ptr<memory::Budget> budget) : budget_(std::move(budget)) {}

std::shared_ptr<const EncodedWeight> WeightStore::find(const WeightView& view,
                                                       const Encoding& encoding) const {
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.view == view && entry.weight->encoding == encoding) return entry.weight;
  }
  return nullptr;
}

std::expected<std::shared_ptr<const EncodedWeight>, Refusal> WeightStore::get(
    const WeightView& view, const Encoding& encoding, std::span<std::byte> window) {
  if (auto weight = find(view, encoding)) return weight;
  // One at a time: two sessions that load at once must not make the same weight twice.
  const std::scoped_lock encoding_lock(encoding_mutex_);
  if (auto weight = find(view, encoding)) return weight;
  auto weight = std::make_shared<EncodedWeight>();
  weight->encoding = encoding;
  std::byte* destination = nullptr;
  if (encoding.bytes >= memory::smallest_block_bytes) {
    auto block = memory::Block::allocate(*budget_, encoding.bytes,
                                         fmt::format("weight '{}'", view.stored->name));
    if (!block) return std::unexpected(std::move(block.error()));
    weight->block = std::move(*block);
    destination = weight->block.data();
  } else {
    weight->heap.resize(std::max<std::uint64_t>(encoding.bytes, 1));
    destination = weight->heap.data();
  }
  encode_weight(view, encoding, window, destination);
  const std::scoped_lock lock(mutex_);
  entries_.push_back({view, weight});
  return std::shared_ptr<const EncodedWeight>(std::move(weight));
}

std::uint64_t WeightStore::bytes() const {
  const std::scoped_lock lock(mutex_);
  std::uint64_t total = 0;
  for (const Entry& entry : entries_) total += entry.weight->encoding.bytes;
  return total;
}

}  // namespace plimsoll::tensor
