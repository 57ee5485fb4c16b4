#include "tensor/plan/product_node.h"

#include <algorithm>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

/// A group of panels that one task multiplies: they stay in a core's second-level cache while the
/// rows go by. Half of the 1 to 2 MiB that current cores have.
constexpr std::uint64_t panel_group_bytes = 512 * 1024;
/// Row tiles of one task, so that tasks are not too small to hand out.
constexpr std::int64_t tiles_per_task = 4;

kernels::PanelType panel_type(ElementType element) {
  switch (element) {
    case ElementType::f16:
      return kernels::PanelType::f16;
    case ElementType::bf16:
      return kernels::PanelType::bf16;
    case ElementType::i8:
      return kernels::PanelType::i8;
    default:
      return kernels::PanelType::f32;
  }
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Row y of a channels-last image of one batch item.
const float* image_row(const KernelOperand& image, std::int64_t n, std::int64_t y) {
  const Shape& shape = image.type.shape;
  const std::int64_t rows = image.ring_rows == 0 ? shape[1] : image.ring_rows;
  const std::int64_t at = image.ring_rows == 0 ? y : y % image.ring_rows;
  return reinterpret_cast<const float*>(image.data) + (n * rows + at) * shape[2] * shape[3];
}
float* image_row_out(const KernelOperand& image, std::int64_t n, std::int64_t y) {
  return const_cast<float*>(image_row(image, n, y));  // NOLINT: an output's memory is writable
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

RowRange ImageWindow::rows(RowRange output, std::int64_t height) const {
  const std::int64_t first = output.begin * stride_y - pad_top;
  const std::int64_t last =
      (output.end - 1) * stride_y - pad_top + (kernel_height - 1) * dilation_y + 1;
  return {std::clamp<std::int64_t>(first, 0, height), std::clamp<std::int64_t>(last, 0, height)};
}

Encoding ProductNode::encoding(std::size_t, const WeightView& view) const {
  Encoding encoding;
  encoding.kind = Encoding::Kind::panels;
  encoding.element = view.stored->type;
  encoding.k = summed_taps() * depth;
  encoding.n = columns;
  encoding.taps = window.taps();
  encoding.panel = kernels::panel_columns(target);
  encoding.by_tap = transposed;
  encoding.bytes = panel_layout(encoding).bytes();
  if (transposed) encoding.bytes *= static_cast<std::uint64_t>(window.taps());
  return encoding;
}

std::uint64_t ProductNode::thread_scratch() const {
  const auto rows = static_cast<std::uint64_t>(kernels::kernel_table(target).max_rows);
  return aligned((static_cast<std::uint64_t>(window.taps()) + 2) * rows * sizeof(void*));
}

std::uint64_t ProductNode::scratch_bytes(int threads) const {
  return aligned(static_cast<std::uint64_t>(depth) * sizeof(float)) +
         static_cast<std::uint64_t>(threads) * thread_scratch();
}

void ProductNode::run(const KernelContext& context) const {
  const Shape& output = context.outputs[0].type.shape;
  if (convolution) {
    run_rows(context, {0, output[1]});
    return;
  }
  run_range(context, 0, columns == 0 ? 0 : output.elements() / columns, 0);
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
  const std::int64_t width = context.outputs[0].type.shape[2];
  const std::int64_t height = context.outputs[0].type.shape[1];
  if (transposed) {
    run_transposed_rows(context, output);
    return;
  }
  if (output.begin == 0 && output.end == height) {
    run_range(context, 0, context.outputs[0].type.shape[0] * height * width, 0);
    return;
  }
  run_range(context, output.begin * width, output.end * width, 0);
}

void ProductNode::run_transposed_rows(const KernelContext& context, RowRange output) const {
  const Shape& input = context.inputs[0].type.shape;
  const std::int64_t tall = window.kernel_height;
  for (std::int64_t tap = 0; tap < window.taps(); ++tap) {
    // Input rows whose row of this tap is asked for: y·tall + tap row in [begin, end).
    const std::int64_t down = tap / window.kernel_width;
    const std::int64_t first = (output.begin - down + tall - 1) / tall;
    const std::int64_t last = (output.end - down + tall - 1) / tall;
    if (first == 0 && last == input[1]) {
      run_range(context, 0, input.product(0, 3), tap);
    } else if (first < last) {
      run_range(context, first * input[2], last * input[2], tap);
    }
  }
}

void ProductNode::run_range(const KernelContext& context, std::int64_t begin, std::int64_t end,
                            std::int64_t tap) const {
  const kernels::KernelTable& table = kernels::kernel_table(target);
  auto* zeros = reinterpret_cast<float*>(context.scratch.data());
  std::memset(zeros, 0, static_cast<std::size_t>(depth) * sizeof(float));
  std::byte* pointers = context.scratch.data() + aligned(static_cast<std::uint64_t>(depth) * 4);
  const std::uint64_t pointer_bytes = thread_scratch();

  const ElementType element = weight_element;
  kernels::PanelLayout layout{summed_taps() * depth, columns, table.panel, element_size(element)};
  const std::int64_t panels = layout.panels();
  const std::uint64_t one_panel =
      static_cast<std::uint64_t>(layout.k * layout.panel) * layout.element_bytes;
  // Even numbers of panels, since the tile takes two at once; all of them where they are few.
  std::int64_t group = static_cast<std::int64_t>(
      std::max<std::uint64_t>(panel_group_bytes / std::max<std::uint64_t>(one_panel, 1), 1));
  group = std::clamp<std::int64_t>(group / 4 * 4, 4, std::max<std::int64_t>(panels, 1));
  const std::int64_t tiles = (end - begin + table.max_rows - 1) / table.max_rows;
  // With few rows the panels are what is shared out among the threads.
  if (tiles < tiles_per_task * context.threads.threads()) {
    const std::int64_t share =
        (panels + context.threads.threads() * 4 - 1) / (context.threads.threads() * 4);
    group = std::min(group, std::max<std::int64_t>(4, (share + 3) / 4 * 4));
  }
  const std::int64_t groups = (panels + group - 1) / group;
  const std::int64_t chunks = (tiles + tiles_per_task - 1) / tiles_per_task;
  const bool has_residual = epilogue.has_residual;

  context.threads.parallel_for(
      groups * chunks, 1, [&](std::int64_t first, std::int64_t last, int thread) {
        // This thread's pointers: taps × rows of factors, then outputs, then residuals.
        std::byte* own = pointers + static_cast<std::uint64_t>(thread) * pointer_bytes;
        const std::int64_t lists = summed_taps() * table.max_rows;
        auto* rows = reinterpret_cast<const float**>(own);
        auto* outputs =
            reinterpret_cast<float**>(own + static_cast<std::size_t>(lists) * sizeof(void*));
        auto* residuals = reinterpret_cast<const float**>(
            own + static_cast<std::size_t>(lists + table.max_rows) * sizeof(void*));
        for (std::int64_t task_index = first; task_index < last; ++task_index) {
          const std::int64_t panel = task_index / chunks * group;
          const std::int64_t chunk = task_index % chunks;
          for (std::int64_t t = chunk * tiles_per_task;
               t < std::min(tiles, (chunk + 1) * tiles_per_task); ++t) {
            const std::int64_t start = begin + t * table.max_rows;
            kernels::TileTask task;
            task.count = std::min(table.max_rows, end - start);
            point(context, tap, start, task.count, zeros, rows, outputs,
                  has_residual ? residuals : nullptr);
            task.rows = rows;
            task.taps = summed_taps();
            task.depth = depth;
            task.panels = context.inputs[1].data + static_cast<std::uint64_t>(tap) * layout.bytes();
            task.type = panel_type(element);
            task.columns = columns;
            task.first_panel = panel;
            task.last_panel = std::min(panels, panel + group);
            task.outputs = outputs;
            task.residuals = has_residual ? residuals : nullptr;
            task.epilogue = epilogue.view();
            table.tile(task);
          }
        }
      });
}

void ProductNode::point(const KernelContext& context, std::int64_t tap, std::int64_t start,
                        std::int64_t count, const float* zeros, const float** rows, float** outputs,
                        const float** residuals) const {
  const KernelOperand& input = context.inputs[0];
  const KernelOperand& output = context.outputs[0];
  if (!convolution) {
    const auto* a = reinterpret_cast<const float*>(input.data);
    auto* c = reinterpret_cast<float*>(output.data);
    for (std::int64_t r = 0; r < count; ++r) {
      rows[r] = a + (start + r) * depth;
      outputs[r] = c + (start + r) * columns;
      if (residuals != nullptr) {
        residuals[r] =
            reinterpret_cast<const float*>(context.inputs[2].data) + (start + r) * columns;
      }
    }
    return;
  }
  if (transposed) {
    const std::int64_t height = input.type.shape[1];
    const std::int64_t width = input.type.shape[2];
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int64_t x = (start + r) % width;
      const std::int64_t line = (start + r) / width;
      const std::int64_t n = line / height;
      const std::int64_t y = line % height * window.kernel_height + tap / window.kernel_width;
      const std::int64_t out_x = x * window.kernel_width + tap % window.kernel_width;
      rows[r] = image_row(input, n, line % height) + x * depth;
      outputs[r] = image_row_out(output, n, y) + out_x * columns;
      if (residuals != nullptr) {
        residuals[r] = image_row(context.inputs[2], n, y) + out_x * columns;
      }
    }
    return;
  }
  const std::int64_t out_width = output.type.shape[2];
  const std::int64_t out_height = output.type.shape[1];
  const std::int64_t in_height = input.type.shape[1];
  const std::int64_t in_width = input.type.shape[2];
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t x = (start + r) % out_width;
    const std::int64_t line = (start + r) / out_width;
    const std::int64_t y = line % out_height;
    const std::int64_t n = line / out_height;
    outputs[r] = image_row_out(output, n, y) + x * columns;
    if (residuals != nullptr) residuals[r] = image_row(context.inputs[2], n, y) + x * columns;
    for (std::int64_t ky = 0; ky < window.kernel_height; ++ky) {
      const std::int64_t iy = y * window.stride_y - window.pad_top + ky * window.dilation_y;
      const float* row = iy < 0 || iy >= in_height ? nullptr : image_row(input, n, iy);
      for (std::int64_t kx = 0; kx < window.kernel_width; ++kx) {
        const std::int64_t ix = x * window.stride_x - window.pad_left + kx * window.dilation_x;
        rows[(ky * window.kernel_width + kx) * count + r] =
            row == nullptr || ix < 0 || ix >= in_width ? zeros : row + ix * depth;
      }
    }
  }
}

Encoding DepthwiseNode::encoding(std::size_t, const WeightView&) const {
  Encoding encoding;
  encoding.kind = Encoding::Kind::depthwise;
  encoding.element = ElementType::f32;
  encoding.n = channels;
  encoding.taps = window.taps();
  encoding.bytes = static_cast<std::uint64_t>(channels * window.taps()) * sizeof(float);
  return encoding;
}

std::uint64_t DepthwiseNode::scratch_bytes(int) const {
  return 0;
}

std::optional<RowRange> DepthwiseNode::input_rows(std::size_t input, RowRange output) const {
  if (input == 2) return output;
  if (input != 0) return std::nullopt;
  return window.rows(output, INT64_MAX / 2);
}

void DepthwiseNode::run(const KernelContext& context) const {
  run_rows(context, {0, context.outputs[0].type.shape[1]});
}

void DepthwiseNode::run_rows(const KernelContext& context, RowRange range) const {
  const kernels::KernelTable& table = kernels::kernel_table(target);
  const KernelOperand& input = context.inputs[0];
  const KernelOperand& output = context.outputs[0];
  const std::int64_t count = range.end - range.begin;
  context.threads.parallel_for(
      output.type.shape[0] * count, 1, [&](std::int64_t begin, std::int64_t end, int) {
        const float* rows[largest_depthwise_kernel];
        for (std::int64_t line = begin; line < end; ++line) {
          const std::int64_t n = line / count;
          const std::int64_t y = range.begin + line % count;
          for (std::int64_t ky = 0; ky < window.kernel_height; ++ky) {
            const std::int64_t iy = y * window.stride_y - window.pad_top + ky * window.dilation_y;
            rows[ky] = iy < 0 || iy >= input.type.shape[1] ? nullptr : image_row(input, n, iy);
          }
          kernels::DepthwiseTask task;
          task.rows = rows;
          task.input_width = input.type.shape[2];
          task.input_stride = channels;
          task.kernel_height = window.kernel_height;
          task.kernel_width = window.kernel_width;
          task.stride = window.stride_x;
          task.dilation = window.dilation_x;
          task.pad = window.pad_left;
          task.weights = reinterpret_cast<const float*>(context.inputs[1].data);
          task.channels = channels;
          task.output = image_row_out(output, n, y);
          task.output_stride = channels;
          task.width = output.type.shape[2];
          if (epilogue.has_residual) {
            task.residual = image_row(context.inputs[2], n, y);
            task.residual_stride = channels;
          }
          task.epilogue = epilogue.view();
          table.depthwise_row(task);
        }
      });
}

}  // namespace plimsoll::tensor
