#include "tensor/plan/depthwise_node.h"

namespace plimsoll::tensor {

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
          task.output = image_row(output, n, y);
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
