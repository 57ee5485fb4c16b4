// The epilogue of a block of sums. Why it exists: the frequent epilogues run while the sums are in
// registers, and one copy of every other activation serves all tiles, so that tiles stay small.
// May touch: functions.h.
#pragma once

#include <cstdint>

#include "tensor/kernels/epilogue.h"
#include "tensor/kernels/forms/functions.h"

namespace plimsoll::tensor::kernels {

/// Sums of some rows by `panels` vectors of columns, and where their results go.
template <typename V>
struct FinishTask {
  const float* sums = nullptr;   ///< [rows][sums_stride]
  std::int64_t sums_stride = 0;  ///< floats
  std::int64_t rows = 0;
  std::int64_t panels = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;                 ///< of the whole matrix; the last vector may be partial
  float* const* outputs = nullptr;          ///< per row, column 0
  const float* const* residuals = nullptr;  ///< per row, column 0; null: none
  const Epilogue* epilogue = nullptr;
};

template <typename V, Activation activation, bool whole>
void finish_vectors(const FinishTask<V>& task, std::int64_t panel, std::int64_t count) {
  using Float = typename V::Float;
  const Epilogue& epilogue = *task.epilogue;
  const std::int64_t column = task.first_column + panel * V::lanes;
  const auto load = [&](const float* p) {
    if constexpr (whole) return V::load(p);
    return V::load_part(p, count);
  };
  const Float scale = epilogue.scale == nullptr ? V::splat(1.0F) : load(epilogue.scale + column);
  const Float shift = epilogue.shift == nullptr ? V::zero() : load(epilogue.shift + column);
  const float low = epilogue.low;
  const float high = epilogue.high;
  const bool before = task.residuals != nullptr && !epilogue.residual_after_activation;
  const bool after = task.residuals != nullptr && epilogue.residual_after_activation;
  for (std::int64_t r = 0; r < task.rows; ++r) {
    Float x = V::fused(V::load(task.sums + r * task.sums_stride + panel * V::lanes), scale, shift);
    if (before) x = x + load(task.residuals[r] + column);
    x = activate<V, activation>(x, low, high);
    if (after) x = x + load(task.residuals[r] + column);
    if constexpr (whole) {
      V::store(task.outputs[r] + column, x);
    } else {
      V::store_part(task.outputs[r] + column, x, count);
    }
  }
}

template <typename V, Activation activation>
[[gnu::noinline]] void finish_as(const FinishTask<V>& task) {
  for (std::int64_t panel = 0; panel < task.panels; ++panel) {
    const std::int64_t left = task.columns - task.first_column - panel * V::lanes;
    if (left >= V::lanes) {
      finish_vectors<V, activation, true>(task, panel, V::lanes);
    } else {
      finish_vectors<V, activation, false>(task, panel, left);
    }
  }
}

template <typename V>
void finish(const FinishTask<V>& task) {
  switch (task.epilogue->activation) {
    case Activation::none:
      return finish_as<V, Activation::none>(task);
    case Activation::clip:
      return finish_as<V, Activation::clip>(task);
    case Activation::leaky_relu:
      return finish_as<V, Activation::leaky_relu>(task);
    case Activation::hard_sigmoid:
      return finish_as<V, Activation::hard_sigmoid>(task);
    case Activation::hard_swish:
      return finish_as<V, Activation::hard_swish>(task);
    case Activation::sigmoid:
      return finish_as<V, Activation::sigmoid>(task);
    case Activation::silu:
      return finish_as<V, Activation::silu>(task);
    case Activation::tanh:
      return finish_as<V, Activation::tanh>(task);
    case Activation::gelu:
      return finish_as<V, Activation::gelu>(task);
  }
}

/// The epilogue of one vector of columns in registers: no activation or a clip.
template <typename V, bool whole>
struct RegisterFinish {
  using Float = typename V::Float;
  Float scale;
  Float shift;
  Float low;
  Float high;
  bool after;
  std::int64_t count;  ///< of columns, from the vector's first

  [[gnu::always_inline]] RegisterFinish(const Epilogue& epilogue, std::int64_t column,
                                        std::int64_t columns)
      : after(epilogue.residual_after_activation), count(columns - column) {
    scale = epilogue.scale == nullptr ? V::splat(1.0F) : load(epilogue.scale + column);
    shift = epilogue.shift == nullptr ? V::zero() : load(epilogue.shift + column);
    const bool clips = epilogue.activation == Activation::clip;
    low = V::splat(clips ? epilogue.low : -__builtin_inff());
    high = V::splat(clips ? epilogue.high : __builtin_inff());
  }
  static bool applies(const Epilogue& epilogue) {
    return epilogue.activation == Activation::none || epilogue.activation == Activation::clip;
  }
  [[gnu::always_inline]] Float load(const float* p) const {
    if constexpr (whole) return V::load(p);
    return V::load_part(p, count);
  }
  /// `residual` and `output`: at the vector's first column; null: no residual.
  [[gnu::always_inline]] void store(Float sum, const float* residual, float* output) const {
    Float x = V::fused(sum, scale, shift);
    if (residual != nullptr && !after) x = x + load(residual);
    x = V::minimum(high, V::maximum(low, x));
    if (residual != nullptr && after) x = x + load(residual);
    if constexpr (whole) {
      V::store(output, x);
    } else {
      V::store_part(output, x, count);
    }
  }
};

template <typename V, int rows, int panels, bool whole>
[[gnu::always_inline]] inline void finish_in_registers(
    const FinishTask<V>& task, const typename V::Float (&sums)[rows][panels], int panel) {
  const std::int64_t column = task.first_column + panel * V::lanes;
  const RegisterFinish<V, whole> finish(*task.epilogue, column, task.columns);
  if (task.residuals == nullptr) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      finish.store(sums[r][panel], nullptr, task.outputs[r] + column);
    }
  } else {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      finish.store(sums[r][panel], task.residuals[r] + column, task.outputs[r] + column);
    }
  }
}

/// The epilogue of sums in registers, whatever it is. `task` needs no sums.
template <typename V, int rows, int panels>
[[gnu::always_inline]] inline void finish_sums(FinishTask<V>& task,
                                               const typename V::Float (&sums)[rows][panels]) {
  if (RegisterFinish<V, true>::applies(*task.epilogue)) {
#pragma GCC unroll 8
    for (int p = 0; p < panels; ++p) {
      if (task.columns - task.first_column >= (p + 1) * V::lanes) {
        finish_in_registers<V, rows, panels, true>(task, sums, p);
      } else {
        finish_in_registers<V, rows, panels, false>(task, sums, p);
      }
    }
    return;
  }
  alignas(64) float buffer[rows * panels * V::lanes];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int p = 0; p < panels; ++p) V::store(buffer + (r * panels + p) * V::lanes, sums[r][p]);
  }
  task.sums = buffer;
  task.sums_stride = panels * V::lanes;
  task.rows = rows;
  task.panels = panels;
  finish<V>(task);
}

}  // namespace plimsoll::tensor::kernels
