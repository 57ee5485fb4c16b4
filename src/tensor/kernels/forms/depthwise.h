// A row of a depthwise convolution, a vector of channels at a time. Why it exists: there is nothing
// to sum over but the kernel's positions, so a tile of a product would be mostly empty. May touch:
// table.h, finish.h.
//
// The sum of each output runs over the kernel's rows, then along them, whichever function computes
// it: results do not depend on where in the row a pixel lies.
#pragma once

#include <cstdint>

#include "tensor/kernels/forms/finish.h"
#include "tensor/kernels/table.h"

namespace plimsoll::tensor::kernels {

/// Neighbouring outputs that one step computes: each is a chain of sums of its own, and neighbours
/// share most of what they read.
inline constexpr int depthwise_pixels = 4;

/// A run of outputs that have all their positions inside the row, for one vector of channels.
struct DepthwiseRun {
  const DepthwiseTask* task = nullptr;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t channel = 0;
};

/// `sums` through the epilogue to outputs x to x + pixels.
template <typename V, int pixels, bool whole>
[[gnu::always_inline]] inline void depthwise_store(const DepthwiseTask& task,
                                                   const RegisterFinish<V, whole>& simple,
                                                   std::int64_t x, std::int64_t channel,
                                                   const typename V::Float (&sums)[pixels][1]) {
  float* output = task.output + x * task.output_stride + channel;
  const float* residual =
      task.residual == nullptr ? nullptr : task.residual + x * task.residual_stride + channel;
  if (RegisterFinish<V, whole>::applies(task.epilogue)) {
#pragma GCC unroll 8
    for (int p = 0; p < pixels; ++p) {
      simple.store(sums[p][0], residual == nullptr ? nullptr : residual + p * task.residual_stride,
                   output + p * task.output_stride);
    }
    return;
  }
  alignas(64) float buffer[pixels * V::lanes];
  float* outputs[pixels];
  const float* residuals[pixels];
#pragma GCC unroll 8
  for (int p = 0; p < pixels; ++p) {
    V::store(buffer + p * V::lanes, sums[p][0]);
    outputs[p] = output - channel + p * task.output_stride;
    if (residual != nullptr) residuals[p] = residual - channel + p * task.residual_stride;
  }
  FinishTask<V> rest;
  rest.sums = buffer;
  rest.sums_stride = V::lanes;
  rest.rows = pixels;
  rest.panels = 1;
  rest.first_column = channel;
  rest.columns = task.channels;
  rest.outputs = outputs;
  rest.residuals = residual == nullptr ? nullptr : residuals;
  rest.epilogue = &task.epilogue;
  finish<V>(rest);
}

/// `width`: the kernel's, 0 when it is not known here. `unit`: stride and dilation are 1. `whole`:
/// all lanes are channels.
template <typename V, int width, bool unit, bool whole>
[[gnu::noinline]] void depthwise_run(const DepthwiseRun& run) {
  using Float = typename V::Float;
  const DepthwiseTask& task = *run.task;
  const RegisterFinish<V, whole> simple(task.epilogue, run.channel, task.channels);
  const std::int64_t kernel_width = width == 0 ? task.kernel_width : width;
  const std::int64_t kernel_height = task.kernel_height;
  const std::int64_t pitch = task.input_stride;
  const std::int64_t stride = unit ? 1 : task.stride;
  const std::int64_t dilation = unit ? 1 : task.dilation;
  const std::int64_t channels = task.channels;
  const float* const first_weights = task.weights + run.channel;
  const auto step = [&]<int pixels>(std::int64_t x) __attribute__((always_inline)) {
    Float sums[pixels][1];
#pragma GCC unroll 8
    for (int p = 0; p < pixels; ++p) sums[p][0] = V::zero();
    const std::int64_t start = (x * stride - task.pad) * pitch + run.channel;
    const float* weights = first_weights;
    for (std::int64_t ky = 0; ky < kernel_height; ++ky, weights += kernel_width * channels) {
      if (task.rows[ky] == nullptr) continue;
      const float* row = task.rows[ky] + start;
#pragma GCC unroll 5
      for (std::int64_t kx = 0; kx < kernel_width; ++kx) {
        const Float weight = simple.load(weights + kx * channels);
#pragma GCC unroll 8
        for (int p = 0; p < pixels; ++p) {
          const Float pixel = simple.load(row + (p * stride + kx * dilation) * pitch);
          sums[p][0] = V::fused(pixel, weight, sums[p][0]);
        }
      }
    }
    depthwise_store<V, pixels, whole>(task, simple, x, run.channel, sums);
  };
  std::int64_t x = run.begin;
  for (; x + depthwise_pixels <= run.end; x += depthwise_pixels) {
    step.template operator()<depthwise_pixels>(x);
  }
  for (; x < run.end; ++x) step.template operator()<1>(x);
}

/// One output that has positions outside the row: they count as zero.
template <typename V, bool whole>
[[gnu::noinline]] void depthwise_edge(const DepthwiseTask& task, std::int64_t x,
                                      std::int64_t channel) {
  const RegisterFinish<V, whole> simple(task.epilogue, channel, task.channels);
  typename V::Float sums[1][1] = {{V::zero()}};
  const float* weights = task.weights + channel;
  for (std::int64_t ky = 0; ky < task.kernel_height; ++ky) {
    for (std::int64_t kx = 0; kx < task.kernel_width; ++kx, weights += task.channels) {
      const std::int64_t at = x * task.stride - task.pad + kx * task.dilation;
      if (task.rows[ky] == nullptr || at < 0 || at >= task.input_width) continue;
      sums[0][0] = V::fused(simple.load(task.rows[ky] + at * task.input_stride + channel),
                            simple.load(weights), sums[0][0]);
    }
  }
  depthwise_store<V, 1, whole>(task, simple, x, channel, sums);
}

template <typename V, bool whole>
void depthwise_vector(const DepthwiseRun& run) {
  const DepthwiseTask& task = *run.task;
  for (std::int64_t x = 0; x < run.begin; ++x) depthwise_edge<V, whole>(task, x, run.channel);
  const bool unit = task.stride == 1 && task.dilation == 1;
  if (task.kernel_width == 3) {
    unit ? depthwise_run<V, 3, true, whole>(run) : depthwise_run<V, 3, false, whole>(run);
  } else if (task.kernel_width == 5) {
    unit ? depthwise_run<V, 5, true, whole>(run) : depthwise_run<V, 5, false, whole>(run);
  } else {
    depthwise_run<V, 0, false, whole>(run);
  }
  for (std::int64_t x = run.end; x < task.width; ++x) {
    depthwise_edge<V, whole>(task, x, run.channel);
  }
}

template <typename V>
void depthwise_row(const DepthwiseTask& task) {
  DepthwiseRun run;
  run.task = &task;
  const std::int64_t last =
      task.input_width - 1 + task.pad - (task.kernel_width - 1) * task.dilation;
  run.end = last < 0 ? 0 : last / task.stride + 1;
  if (run.end > task.width) run.end = task.width;
  run.begin = (task.pad + task.stride - 1) / task.stride;
  if (run.begin > run.end) run.begin = run.end;
  for (; run.channel + V::lanes <= task.channels; run.channel += V::lanes) {
    depthwise_vector<V, true>(run);
  }
  if (run.channel < task.channels) depthwise_vector<V, false>(run);
}

}  // namespace plimsoll::tensor::kernels
