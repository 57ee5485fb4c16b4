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
/// casts a half-precision weight to f32, and bytes for kernels that have no packed form of them.
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
  if (to == ElementType::f32 && (from == ElementType::i8 || from == ElementType::u8)) {
    auto* out = reinterpret_cast<float*>(destination);
    for (std::int64_t index = 0; index < count; ++index) {
      const auto bits = std::to_integer<std::uint8_t>(source[index]);
      out[index * stride] = from == ElementType::i8
                                ? static_cast<float>(static_cast<std::int8_t>(bits))
                                : static_cast<float>(bits);
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

void walk_runs(const WeightView& view, std::span<std::byte> window,
               const std::function<void(const SourceRun&)>& consume) {
  walk_source(view, window, [&](const SourceBox& box) { for_each_run(view, box, consume); });
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
  walk_runs(view, window, [&](const SourceRun& run) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < view.type.shape.rank(); ++axis) {
      at += run.index[axis] * strides[axis];
    }
    scatter(run.data, from, destination + static_cast<std::size_t>(at) * element_size(to), to,
            strides[run.axis], run.count);
  });
}

/// A box of a product's weight, a view [K, N].
void pack_product(const WeightView& view, const Encoding& encoding, const SourceBox& box,
                  std::byte* destination) {
  const kernels::PackSource source{box.data, 0, view.strides[0], view.strides[1],
                                   encoding.flip_top_bit};
  const kernels::PackRange range{0, 1, box.index[0], box.count[0], box.index[1], box.count[1]};
  kernels::pack(panel_layout(encoding), encoding.k, source, range, destination);
}

/// A box of a convolution's weight, a view [O, I, taps], whose output channels may be several
/// groups' columns.
void pack_convolution(const WeightView& view, const Encoding& encoding, const SourceBox& box,
                      std::byte* destination) {
  const kernels::PanelLayout layout = panel_layout(encoding);
  const std::size_t width = element_size(encoding.element);
  const std::int64_t end = box.index[0] + box.count[0];
  for (std::int64_t o = box.index[0]; o < end;) {
    const std::int64_t group = o / encoding.n;
    const std::int64_t next = std::min(end, (group + 1) * encoding.n);
    const kernels::PackSource source{
        box.data + static_cast<std::size_t>((o - box.index[0]) * view.strides[0]) * width,
        view.strides[2], view.strides[1], view.strides[0], encoding.flip_top_bit};
    const kernels::PackRange range{box.index[2], box.count[2],           box.index[1],
                                   box.count[1], o - group * encoding.n, next - o};
    kernels::pack(layout, encoding.k / encoding.taps, source, range,
                  destination + static_cast<std::uint64_t>(group) * layout.bytes());
    o = next;
  }
}

/// A box of a weight whose taps are matrices of their own, a view [K, N, taps].
void pack_by_tap(const WeightView& view, const Encoding& encoding, const SourceBox& box,
                 std::byte* destination) {
  const kernels::PanelLayout layout = panel_layout(encoding);
  const std::size_t width = element_size(encoding.element);
  const kernels::PackRange range{0, 1, box.index[0], box.count[0], box.index[1], box.count[1]};
  for (std::int64_t t = 0; t < box.count[2]; ++t) {
    const kernels::PackSource source{
        box.data + static_cast<std::size_t>(t * view.strides[2]) * width, 0, view.strides[0],
        view.strides[1]};
    kernels::pack(layout, encoding.k, source, range,
                  destination + static_cast<std::uint64_t>(box.index[2] + t) * layout.bytes());
  }
}

/// Views are [K, N] for a product, [O, I, taps] for a convolution, [K, N, taps] by tap.
void encode_panels(const WeightView& view, const Encoding& encoding, std::span<std::byte> window,
                   std::byte* destination) {
  if (view.stored->type != encoding.element) fail_internal("packing keeps a weight's type");
  const auto pack_box = view.type.shape.rank() == 2 ? pack_product
                        : encoding.by_tap           ? pack_by_tap
                                                    : pack_convolution;
  walk_source(view, window,
              [&](const SourceBox& box) { pack_box(view, encoding, box, destination); });
}

/// [C, 1, taps] → [taps][C].
void encode_depthwise(const WeightView& view, const Encoding& encoding, std::span<std::byte> window,
                      std::byte* destination) {
  const std::size_t width = element_size(encoding.element);
  walk_runs(view, window, [&](const SourceRun& run) {
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
  return {encoding.k, encoding.n, encoding.panel, element_size(encoding.element),
          encoding.depth_block};
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
