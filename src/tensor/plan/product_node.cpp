#include "tensor/plan/product_node.h"

#include <unistd.h>

#include <algorithm>

#include "tensor/plan/tile_pointers.h"

namespace plimsoll::tensor {
namespace {

/// A group of panels that one task multiplies: they stay in a core's second-level cache while the
/// rows go by. Half of that cache, which is 256 KiB to 2 MiB on current cores.
std::uint64_t panel_group_bytes() {
  static const std::uint64_t bytes = [] {
    constexpr long least = 256 * 1024;
    constexpr long most = 2 * 1024 * 1024;
    return static_cast<std::uint64_t>(std::clamp(sysconf(_SC_LEVEL2_CACHE_SIZE) / 2, least, most));
  }();
  return bytes;
}
/// The tile takes up to four panels at once.
constexpr std::int64_t panels_at_once = 4;
/// A kernel's row of no more floats than this counts as one tap: see tile_pointers.h. What its
/// copies take is then little, and longer inner loops gain nothing.
constexpr std::int64_t longest_strip = 256;
/// Row tiles of one task, so that tasks are not too small to hand out.
constexpr std::int64_t tiles_per_task = 8;

kernels::PanelType panel_type(ElementType element) {
  switch (element) {
    case ElementType::f16:
      return kernels::PanelType::f16;
    case ElementType::bf16:
      return kernels::PanelType::bf16;
    case ElementType::i8:
      return kernels::PanelType::i8;
    case ElementType::u8:
      return kernels::PanelType::u8;
    default:
      return kernels::PanelType::f32;
  }
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

kernels::Epilogue OwnedEpilogue::view() const {
  kernels::Epilogue view;
  view.scale = scale.empty() ? nullptr : scale.data();
  view.shift = shift.empty() ? nullptr : shift.data();
  view.activation = activation;
  view.low = low;
  view.high = high;
  view.residual_after_activation = residual_after_activation;
  return view;
}

void OwnedEpilogue::then_affine(std::span<const float> factor, std::span<const float> term,
                                std::size_t count) {
  const auto at = [](std::span<const float> list, std::size_t index, float fallback) {
    return list.empty() ? fallback : list[list.size() == 1 ? 0 : index];
  };
  if (!factor.empty()) {
    if (scale.empty()) scale.assign(count, 1.0F);
    for (std::size_t i = 0; i < count; ++i) scale[i] *= at(factor, i, 1);
    for (std::size_t i = 0; i < shift.size(); ++i) shift[i] *= at(factor, i, 1);
  }
  if (!term.empty()) {
    if (shift.empty()) shift.assign(count, 0.0F);
    for (std::size_t i = 0; i < count; ++i) shift[i] += at(term, i, 0);
  }
}

Encoding ProductNode::encoding(std::size_t, const WeightView& view) const {
  Encoding encoding;
  encoding.kind = Encoding::Kind::panels;
  encoding.element = view.stored->type;
  encoding.k = summed_taps() * summed_depth();
  encoding.n = matrix_columns();
  encoding.groups = groups;
  encoding.taps = window.taps();
  encoding.panel = kernels::panel_columns(target);
  encoding.by_tap = transposed;
  encoding.bytes = panel_layout(encoding).bytes();
  encoding.bytes *= static_cast<std::uint64_t>(transposed ? window.taps() : groups);
  return encoding;
}

bool ProductNode::takes_strips() const {
  return convolution && !transposed && groups == 1 && window.kernel_width > 1 &&
         window.dilation_x == 1 && window.kernel_width * depth <= longest_strip;
}

std::int64_t ProductNode::summed_taps() const {
  if (transposed) return 1;
  return takes_strips() ? window.kernel_height : window.taps();
}

std::int64_t ProductNode::summed_depth() const {
  return takes_strips() ? window.kernel_width * depth : depth;
}

std::uint64_t ProductNode::scratch_bytes(int threads) const {
  return zeros_bytes() + static_cast<std::uint64_t>(threads) * TilePointers::bytes(*this);
}

std::uint64_t ProductNode::zeros_bytes() const {
  return aligned(static_cast<std::uint64_t>(summed_depth()) * sizeof(float));
}

void ProductNode::run(const KernelContext& context) const {
  const Shape& output = context.outputs[0].type.shape;
  if (convolution) {
    run_rows(context, {0, output[1]});
    return;
  }
  run_range(context, {0, columns == 0 ? 0 : output.elements() / columns}, {0, 1});
}

std::int64_t ProductNode::columns_in(std::uint64_t bytes) const {
  if (convolution) return 0;
  const std::int64_t panel = kernels::panel_columns(target);
  const std::uint64_t panel_bytes =
      static_cast<std::uint64_t>(depth * panel) * element_size(weight_element);
  return std::max<std::int64_t>(static_cast<std::int64_t>(bytes / panel_bytes), 1) * panel;
}

void ProductNode::run_columns(const KernelContext& context, std::int64_t first,
                              std::int64_t count) const {
  ProductNode part = *this;
  const auto cut = [&](std::vector<float>& list) {
    if (list.empty()) return;
    list.erase(list.begin() + first + count, list.end());
    list.erase(list.begin(), list.begin() + first);
  };
  cut(part.epilogue.scale);
  cut(part.epilogue.shift);
  cut(part.zero_points);
  part.columns = count;
  part.result_stride = columns;
  part.first_column = first;
  const std::int64_t rows = context.outputs[0].type.shape.elements() / columns;
  part.run_range(context, {0, rows}, {0, 1});
}

std::optional<RowRange> ProductNode::input_rows(std::size_t input, RowRange output) const {
  if (input == 2) return output;
  if (input != 0) return std::nullopt;
  if (transposed) {
    return RowRange{output.begin / window.kernel_height,
                    (output.end + window.kernel_height - 1) / window.kernel_height};
  }
  return window.rows(output, INT64_MAX / 2);
}

void ProductNode::run_rows(const KernelContext& context, RowRange output) const {
  const Shape& shape = context.outputs[0].type.shape;
  const bool whole = output == RowRange{0, shape[1]};
  if (transposed) {
    if (whole) {
      run_range(context, {0, context.inputs[0].type.shape.product(0, 3)}, {0, window.taps()});
    } else {
      run_transposed_rows(context, output);
    }
    return;
  }
  run_range(context,
            whole ? RowRange{0, shape.product(0, 3)}
                  : RowRange{output.begin * shape[2], output.end * shape[2]},
            {0, groups});
}

void ProductNode::run_transposed_rows(const KernelContext& context, RowRange output) const {
  const std::int64_t width = context.inputs[0].type.shape[2];
  const std::int64_t tall = window.kernel_height;
  for (std::int64_t down = 0; down < tall; ++down) {
    // Input rows whose row of this kernel row is asked for: y·tall + down in [begin, end).
    const std::int64_t first = (output.begin - down + tall - 1) / tall;
    const std::int64_t last = (output.end - down + tall - 1) / tall;
    if (first >= last) continue;
    run_range(context, {first * width, last * width},
              {down * window.kernel_width, (down + 1) * window.kernel_width});
  }
}

ProductNode::PanelGroups ProductNode::panel_groups(std::int64_t tiles, int threads) const {
  const kernels::PanelLayout layout{summed_taps() * summed_depth(), matrix_columns(),
                                    kernels::kernel_table(target).panel,
                                    element_size(weight_element)};
  PanelGroups cut;
  cut.panels = layout.panels();
  cut.matrix_bytes = layout.bytes();
  const std::uint64_t wanted = std::max<std::uint64_t>(
      (cut.matrix_bytes + panel_group_bytes() - 1) / panel_group_bytes(), 1);
  std::int64_t group = cut.panels / static_cast<std::int64_t>(wanted) + 1;
  // With few rows the panels are what is shared out among the threads.
  if (tiles < tiles_per_task * threads) group = std::min(group, cut.panels / (threads * 4) + 1);
  cut.group = std::min((group + panels_at_once - 1) / panels_at_once * panels_at_once,
                       std::max<std::int64_t>(cut.panels, 1));
  cut.count = (cut.panels + cut.group - 1) / cut.group;
  return cut;
}

void ProductNode::run_range(const KernelContext& context, RowRange range, RowRange matrices) const {
  const std::int64_t max_rows = kernels::kernel_table(target).max_rows;
  auto* zeros = reinterpret_cast<float*>(context.scratch.data());
  std::fill_n(zeros, summed_depth(), 0.0F);
  const std::int64_t tiles = (range.end - range.begin + max_rows - 1) / max_rows;
  const PanelGroups cut = panel_groups(tiles, context.threads.threads());
  const std::int64_t chunks = (tiles + tiles_per_task - 1) / tiles_per_task;
  context.threads.parallel_for(
      cut.count * chunks, 1, [&](std::int64_t first, std::int64_t last, int thread) {
        TilePointers pointers(*this, context, zeros,
                              context.scratch.data() + zeros_bytes() +
                                  static_cast<std::uint64_t>(thread) * TilePointers::bytes(*this));
        kernels::TileTask task;
        task.rows = pointers.rows();
        task.taps = summed_taps();
        task.depth = summed_depth();
        task.type = panel_type(weight_element);
        task.columns = matrix_columns();
        task.outputs = pointers.outputs();
        task.residuals = pointers.residuals();
        task.epilogue = epilogue.view();
        if (!zero_points.empty()) task.zero_points = zero_points.data();
        for (std::int64_t index = first; index < last; ++index) {
          task.first_panel = index / chunks * cut.group;
          task.last_panel = std::min(cut.panels, task.first_panel + cut.group);
          const std::int64_t row = range.begin + index % chunks * tiles_per_task * max_rows;
          const RowRange rows{row, std::min(range.end, row + tiles_per_task * max_rows)};
          for (std::int64_t matrix = matrices.begin; matrix < matrices.end; ++matrix) {
            task.panels =
                context.inputs[1].data + static_cast<std::uint64_t>(matrix) * cut.matrix_bytes;
            if (groups != 1) take_group(task, matrix);
            run_tiles(task, rows, matrix, pointers);
          }
        }
      });
}

void ProductNode::take_group(kernels::TileTask& task, std::int64_t group) const {
  const std::int64_t first = group * matrix_columns();
  if (!zero_points.empty()) task.zero_points = zero_points.data() + first;
  if (!epilogue.scale.empty()) task.epilogue.scale = epilogue.scale.data() + first;
  if (!epilogue.shift.empty()) task.epilogue.shift = epilogue.shift.data() + first;
}

void ProductNode::run_tiles(kernels::TileTask& task, RowRange range, std::int64_t matrix,
                            TilePointers& pointers) const {
  const kernels::KernelTable& table = kernels::kernel_table(target);
  for (std::int64_t row = range.begin; row < range.end; row += table.max_rows) {
    task.count = std::min(table.max_rows, range.end - row);
    pointers.point(row, task.count, matrix);
    table.tile(task);
  }
}

}  // namespace plimsoll::tensor
