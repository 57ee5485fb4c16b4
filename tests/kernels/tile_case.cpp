#include "kernels/tile_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "tensor/graph/half.h"
#include "tensor/kernels/packing.h"

namespace plimsoll::tensor::kernels::test {
namespace {

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

std::size_t width_of(PanelType type) {
  switch (type) {
    case PanelType::f32:
      return 4;
    case PanelType::f16:
    case PanelType::bf16:
      return 2;
    default:
      return 1;
  }
}

/// The bytes of `value` as the type stores it, and what a kernel reads from them.
float store(PanelType type, float value, std::byte* to) {
  switch (type) {
    case PanelType::f32:
      std::memcpy(to, &value, 4);
      return value;
    case PanelType::f16: {
      const Float16 half = to_float16(value);
      std::memcpy(to, &half, 2);
      return to_float(half);
    }
    case PanelType::bf16: {
      const BFloat16 half = to_bfloat16(value);
      std::memcpy(to, &half, 2);
      return to_float(half);
    }
    case PanelType::i8: {
      const auto byte = static_cast<std::int8_t>(value);
      std::memcpy(to, &byte, 1);
      return byte;
    }
    case PanelType::u8: {
      const auto byte = static_cast<std::uint8_t>(value);
      std::memcpy(to, &byte, 1);
      return byte;
    }
  }
  return 0;
}

}  // namespace

double activation_of(double x, const Epilogue& epilogue) {
  switch (epilogue.activation) {
    case Activation::none:
      return x;
    case Activation::clip:
      return std::min(std::max(x, double{epilogue.low}), double{epilogue.high});
    case Activation::leaky_relu:
      return x < 0 ? x * epilogue.low : x;
    case Activation::hard_sigmoid:
      return std::clamp(x * epilogue.low + epilogue.high, 0.0, 1.0);
    case Activation::hard_swish:
      return x * std::clamp(x + 3, 0.0, 6.0) * epilogue.low + epilogue.high;
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::gelu:
      return x * (1 + std::erf(x / std::numbers::sqrt2)) / 2;
  }
  return x;
}

void TileCase::prepare(std::uint32_t seed) {
  Numbers numbers(seed);
  if (row_stride == 0) row_stride = k;
  if (output_stride == 0) output_stride = n;
  const bool bytes = type == PanelType::i8 || type == PanelType::u8;
  const auto fill = [&](std::int64_t count) {
    return whole_numbers ? numbers.wholes(count) : numbers.reals(count);
  };
  a = fill(taps * m * row_stride);
  b = bytes ? numbers.wholes(taps * k * n, type == PanelType::i8 ? -4 : 0, 4) : fill(taps * k * n);
  std::byte buffer[4];
  for (float& x : b) x = store(type, x, buffer);
  if (zero_points) zeros = numbers.wholes(n, -3, 3);
  if (scale) scales = whole_numbers ? numbers.wholes(n, 1, 4) : numbers.reals(n);
  if (shift) shifts = fill(n);
  if (residual) residuals = fill(m * output_stride);
}

std::vector<std::byte> TileCase::pack_for(Target target) const {
  const PanelLayout layout{taps * k, n, panel_columns(target), width_of(type)};
  std::vector<std::byte> source(b.size() * width_of(type));
  for (std::size_t i = 0; i < b.size(); ++i) store(type, b[i], source.data() + i * width_of(type));
  std::vector<std::byte> panels(layout.bytes());
  PackRange range;
  range.depth = taps * k;
  range.columns = n;
  pack(layout, layout.k, {source.data(), 0, n, 1}, range, panels.data());
  return panels;
}

std::vector<float> TileCase::blank_output() const {
  return std::vector<float>(index(m * output_stride), -7.0F);
}

std::vector<float> TileCase::expected() const {
  std::vector<float> output = blank_output();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t t = 0; t < taps; ++t) {
        for (std::int64_t l = 0; l < k; ++l) {
          const double zero = zeros.empty() ? 0 : zeros[index(j)];
          sum += double{a[index((t * m + i) * row_stride + l)]} *
                 (b[index((t * k + l) * n + j)] - zero);
        }
      }
      if (scale) sum *= scales[index(j)];
      if (shift) sum += shifts[index(j)];
      const double rest = residual ? residuals[index(i * output_stride + j)] : 0;
      if (!epilogue.residual_after_activation) sum += rest;
      sum = activation_of(sum, epilogue);
      if (epilogue.residual_after_activation) sum += rest;
      output[index(i * output_stride + j)] = static_cast<float>(sum);
    }
  }
  return output;
}

void TileCase::run(Target target, const std::vector<std::byte>& panels, std::int64_t tile_rows,
                   std::int64_t panel_step, std::int64_t first, std::int64_t last,
                   std::vector<float>& output) const {
  const KernelTable& table = kernel_table(target);
  const std::int64_t panel_count = PanelLayout{k, n, table.panel}.panels();
  std::vector<const float*> rows;
  std::vector<float*> outputs;
  std::vector<const float*> rests;
  for (std::int64_t panel = 0; panel < panel_count; panel += panel_step) {
    for (std::int64_t row = first; row < last; row += tile_rows) {
      TileTask task;
      task.count = std::min(tile_rows, last - row);
      rows.clear();
      outputs.clear();
      rests.clear();
      for (std::int64_t t = 0; t < taps; ++t) {
        for (std::int64_t r = 0; r < task.count; ++r) {
          rows.push_back(a.data() + (t * m + row + r) * row_stride);
        }
      }
      for (std::int64_t r = 0; r < task.count; ++r) {
        outputs.push_back(output.data() + (row + r) * output_stride);
        if (residual) rests.push_back(residuals.data() + (row + r) * output_stride);
      }
      task.rows = rows.data();
      task.taps = taps;
      task.depth = k;
      task.panels = panels.data();
      task.type = type;
      task.columns = n;
      task.first_panel = panel;
      task.last_panel = std::min(panel_count, panel + panel_step);
      task.outputs = outputs.data();
      task.residuals = residual ? rests.data() : nullptr;
      task.zero_points = zero_points ? zeros.data() : nullptr;
      task.epilogue = epilogue;
      task.epilogue.scale = scale ? scales.data() : nullptr;
      task.epilogue.shift = shift ? shifts.data() : nullptr;
      table.tile(task);
    }
  }
}

std::vector<float> TileCase::run_all(Target target) const {
  std::vector<float> output = blank_output();
  run(target, pack_for(target), kernel_table(target).max_rows, INT64_MAX / 2, 0, m, output);
  return output;
}

}  // namespace plimsoll::tensor::kernels::test
