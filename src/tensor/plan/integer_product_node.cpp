#include "tensor/plan/integer_product_node.h"

#include <algorithm>
#include <cstring>

#include "tensor/kernels/table.h"

namespace plimsoll::tensor {
namespace {

/// Row tiles of one task, so that tasks are not too small to hand out.
constexpr std::int64_t tiles_per_task = 8;
/// Panels of one task: a group of them stays in a second-level cache while rows go by.
constexpr std::uint64_t panel_group_bytes = 256 * 1024;
/// The tile takes up to four panels at once.
constexpr std::int64_t panels_at_once = 4;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

/// Pointers that one thread fills for each tile.
struct IntegerProductNode::Pointers {
  const std::uint8_t** rows = nullptr;  ///< [taps][rows]
  void** outputs = nullptr;
  const std::uint8_t* padding = nullptr;  ///< `depth` bytes
};

Encoding IntegerProductNode::encoding(std::size_t input, const WeightView& view) const {
  if (input != 1) return plain_encoding(view.type);
  Encoding encoding;
  encoding.kind = Encoding::Kind::panels;
  encoding.element = view.stored->type;
  encoding.k =
      kernels::PanelLayout::padded_depth(window.taps(), depth, kernels::integer_depth_block);
  encoding.n = columns;
  encoding.taps = window.taps();
  encoding.panel = kernels::panel_columns(target);
  encoding.depth_block = kernels::integer_depth_block;
  encoding.flip_top_bit = !weight_is_signed;
  encoding.bytes = panel_layout(encoding).bytes();
  return encoding;
}

std::uint64_t IntegerProductNode::padding_bytes() const {
  return aligned(static_cast<std::uint64_t>(depth));
}

std::uint64_t IntegerProductNode::pointer_bytes() const {
  const auto rows = static_cast<std::uint64_t>(kernels::kernel_table(target).max_rows);
  return aligned((static_cast<std::uint64_t>(window.taps()) + 1) * rows * sizeof(void*));
}

std::uint64_t IntegerProductNode::scratch_bytes(int threads) const {
  return padding_bytes() + static_cast<std::uint64_t>(threads) * pointer_bytes();
}

void IntegerProductNode::run(const KernelContext& context) const {
  const kernels::KernelTable& table = kernels::kernel_table(target);
  const std::int64_t rows = columns == 0 ? 0 : context.outputs[0].type.shape.elements() / columns;
  // The zero point as it lies in memory, and as a number.
  const auto zero_byte = context.inputs.size() > 2 ? context.inputs[2].data[0] : std::byte{0};
  const std::int32_t zero = left_is_signed ? std::int32_t{static_cast<std::int8_t>(zero_byte)}
                                           : std::to_integer<std::int32_t>(zero_byte);
  std::memset(context.scratch.data(), std::to_integer<int>(zero_byte),
              static_cast<std::size_t>(depth));
  const kernels::PanelLayout layout{
      kernels::PanelLayout::padded_depth(window.taps(), depth, kernels::integer_depth_block),
      columns, table.panel, 1, kernels::integer_depth_block};
  const std::int64_t panels = layout.panels();
  const std::uint64_t one_panel = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(layout.k) * static_cast<std::uint64_t>(layout.panel), 1);
  const std::int64_t tiles = (rows + table.max_rows - 1) / table.max_rows;
  std::int64_t group = static_cast<std::int64_t>(panel_group_bytes / one_panel) + 1;
  // With few rows the panels are what is shared out among the threads.
  const std::int64_t threads = context.threads.threads();
  if (tiles < tiles_per_task * threads) group = std::min(group, panels / (threads * 4) + 1);
  group = (group + panels_at_once - 1) / panels_at_once * panels_at_once;
  const std::int64_t groups = (panels + group - 1) / group;
  const std::int64_t chunks = (tiles + tiles_per_task - 1) / tiles_per_task;

  context.threads.parallel_for(
      groups * chunks, 1, [&](std::int64_t first, std::int64_t last, int thread) {
        std::byte* own = context.scratch.data() + padding_bytes() +
                         static_cast<std::uint64_t>(thread) * pointer_bytes();
        Pointers pointers;
        pointers.rows = reinterpret_cast<const std::uint8_t**>(own);
        pointers.outputs = reinterpret_cast<void**>(
            own + static_cast<std::size_t>(window.taps() * table.max_rows) * sizeof(void*));
        pointers.padding = reinterpret_cast<const std::uint8_t*>(context.scratch.data());
        kernels::IntegerTileTask task;
        task.rows = pointers.rows;
        task.taps = window.taps();
        task.depth = depth;
        task.a_is_signed = left_is_signed;
        task.a_zero = zero;
        task.panels = reinterpret_cast<const std::int8_t*>(context.inputs[1].data);
        task.b_was_unsigned = !weight_is_signed;
        task.b_zeros = weight_zeros.empty() ? nullptr : weight_zeros.data();
        task.columns = columns;
        task.bias = bias.empty() ? nullptr : bias.data();
        task.output = result;
        task.outputs = pointers.outputs;
        task.epilogue.scale = scale.empty() ? nullptr : scale.data();
        task.output_zero = result_zero;
        for (std::int64_t index = first; index < last; ++index) {
          task.first_panel = index / chunks * group;
          task.last_panel = std::min(panels, task.first_panel + group);
          const std::int64_t begin = index % chunks * tiles_per_task * table.max_rows;
          const std::int64_t end = std::min(rows, begin + tiles_per_task * table.max_rows);
          for (std::int64_t row = begin; row < end; row += table.max_rows) {
            task.count = std::min(table.max_rows, end - row);
            point(context, row, task.count, pointers);
            table.integer_tile(task);
          }
        }
      });
}

void IntegerProductNode::point(const KernelContext& context, std::int64_t start, std::int64_t count,
                               const Pointers& pointers) const {
  const auto* factors = reinterpret_cast<const std::uint8_t*>(context.inputs[0].data);
  const auto pitch =
      columns * static_cast<std::int64_t>(element_size(context.outputs[0].type.element));
  for (std::int64_t r = 0; r < count; ++r) {
    pointers.outputs[r] = context.outputs[0].data + (start + r) * pitch;
    if (convolution) {
      point_pixel(context, start + r, r, count, pointers);
    } else {
      pointers.rows[r] = factors + (start + r) * depth;
    }
  }
}

void IntegerProductNode::point_pixel(const KernelContext& context, std::int64_t pixel,
                                     std::int64_t row, std::int64_t count,
                                     const Pointers& pointers) const {
  const Shape& input = context.inputs[0].type.shape;
  const Shape& output = context.outputs[0].type.shape;
  const std::int64_t x = pixel % output[2] * window.stride_x - window.pad_left;
  const std::int64_t y = pixel / output[2] % output[1] * window.stride_y - window.pad_top;
  const std::int64_t n = pixel / output[2] / output[1];
  const auto* image =
      reinterpret_cast<const std::uint8_t*>(context.inputs[0].data) + n * input.product(1, 4);
  for (std::int64_t ky = 0; ky < window.kernel_height; ++ky) {
    const std::int64_t at_y = y + ky * window.dilation_y;
    for (std::int64_t kx = 0; kx < window.kernel_width; ++kx) {
      const std::int64_t at_x = x + kx * window.dilation_x;
      const bool inside = at_y >= 0 && at_y < input[1] && at_x >= 0 && at_x < input[2];
      pointers.rows[(ky * window.kernel_width + kx) * count + row] =
          inside ? image + (at_y * input[2] + at_x) * depth : pointers.padding;
    }
  }
}

}  // namespace plimsoll::tensor
