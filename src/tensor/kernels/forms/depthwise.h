// A row of a depthwise convolution, a vector of channels at a time. Why it exists: there is nothing
// to sum over but the kernel's positions, so a tile of a product would be mostly empty. May touch:
// table.h, finish.h.
#pragma once

#include <cstdint>

#include "tensor/kernels/forms/finish.h"
#include "tensor/kernels/table.h"

namespace plimsoll::tensor::kernels {

/// Neighbouring outputs that one step computes: each is a chain of sums of its own.
inline constexpr int depthwise_pixels = 4;

/// Outputs x to x + pixels of the vector of channels at `channel`. `width`: the kernel's, 0 when it
/// is not known here. `inner`: all positions lie inside the row. `whole`: all lanes are channels.
template <typename V, int width, int pixels, bool inner, bool whole>
void depthwise_step(const DepthwiseTask& task, std::int64_t x, std::int64_t channel) {
  using Float = typename V::Float;
  const std::int64_t count = task.channels - channel;
  const auto load = [&](const float* p) {
    if constexpr (whole) return V::load(p);
    return V::load_part(p, count);
  };
  const std::int64_t kernel_width = width == 0 ? task.kernel_width : width;
  const std::int64_t pixel_step = task.stride * task.input_stride;
  const std::int64_t tap_step = task.dilation * task.input_stride;
  const std::int64_t start = x * task.stride - task.pad;
  Float sums[pixels][1];
#pragma GCC unroll 8
  for (int p = 0; p < pixels; ++p) sums[p][0] = V::zero();
  const float* weights = task.weights + channel;
  for (std::int64_t ky = 0; ky < task.kernel_height; ++ky) {
    const float* row = task.rows[ky];
    if (row == nullptr) {
      weights += kernel_width * task.channels;
      continue;
    }
    // `start` may lie outside the row: the address is made only where it is read.
#pragma GCC unroll 5
    for (std::int64_t kx = 0; kx < kernel_width; ++kx) {
      const Float weight = load(weights);
      weights += task.channels;
#pragma GCC unroll 8
      for (int p = 0; p < pixels; ++p) {
        if constexpr (!inner) {
          const std::int64_t at = start + p * task.stride + kx * task.dilation;
          if (at < 0 || at >= task.input_width) continue;
        }
        const float* pixel =
            row + start * task.input_stride + p * pixel_step + kx * tap_step + channel;
        sums[p][0] = V::fused(load(pixel), weight, sums[p][0]);
      }
    }
  }
  float* outputs[pixels];
  const float* residuals[pixels];
#pragma GCC unroll 8
  for (int p = 0; p < pixels; ++p) {
    outputs[p] = task.output + (x + p) * task.output_stride;
    if (task.residual != nullptr) residuals[p] = task.residual + (x + p) * task.residual_stride;
  }
  FinishTask<V> rest;
  rest.first_column = channel;
  rest.columns = task.channels;
  rest.outputs = outputs;
  rest.residuals = task.residual == nullptr ? nullptr : residuals;
  rest.epilogue = &task.epilogue;
  finish_sums<V, pixels, 1>(rest, sums);
}

template <typename V, int width, int pixels, bool inner>
void depthwise_channels(const DepthwiseTask& task, std::int64_t x) {
  std::int64_t channel = 0;
  for (; channel + V::lanes <= task.channels; channel += V::lanes) {
    depthwise_step<V, width, pixels, inner, true>(task, x, channel);
  }
  if (channel < task.channels) {
    depthwise_step<V, width, pixels, inner, false>(task, x, channel);
  }
}

template <typename V, int width>
void depthwise_width(const DepthwiseTask& task) {
  // Outputs [inner_begin, inner_end) have all their positions inside the row.
  const std::int64_t last =
      task.input_width - 1 + task.pad - (task.kernel_width - 1) * task.dilation;
  std::int64_t inner_end = last < 0 ? 0 : last / task.stride + 1;
  if (inner_end > task.width) inner_end = task.width;
  std::int64_t inner_begin = (task.pad + task.stride - 1) / task.stride;
  if (inner_begin > inner_end) inner_begin = inner_end;
  std::int64_t x = 0;
  for (; x < inner_begin; ++x) depthwise_channels<V, 0, 1, false>(task, x);
  for (; x + depthwise_pixels <= inner_end; x += depthwise_pixels) {
    depthwise_channels<V, width, depthwise_pixels, true>(task, x);
  }
  for (; x < inner_end; ++x) depthwise_channels<V, width, 1, true>(task, x);
  for (; x < task.width; ++x) depthwise_channels<V, 0, 1, false>(task, x);
}

template <typename V>
void depthwise_row(const DepthwiseTask& task) {
  switch (task.kernel_width) {
    case 3:
      return depthwise_width<V, 3>(task);
    case 5:
      return depthwise_width<V, 5>(task);
    default:
      return depthwise_width<V, 0>(task);
  }
}

}  // namespace plimsoll::tensor::kernels
