// One operation on a block of elements. Why it exists: chains of elementwise operators run block by
// block, each step on vectors in the first-level cache. May touch: functions.h, map.h of kernels.
#pragma once

#include "tensor/kernels/forms/functions.h"
#include "tensor/kernels/map.h"

namespace plimsoll::tensor::kernels {

/// output[i] = operation(a[i], b[i]); an operand that does not move is the same for all.
template <typename V, typename Operation>
void map_block(const MapTask& task, const Operation& operation) {
  using Float = typename V::Float;
  const Float fixed_a = V::splat(*task.a);
  const Float fixed_b = V::splat(task.b == nullptr ? 0.0F : *task.b);
  const bool b_moves = task.b_moves && task.b != nullptr;
  std::int64_t i = 0;
  for (; i + V::lanes <= task.count; i += V::lanes) {
    const Float a = task.a_moves ? V::load(task.a + i) : fixed_a;
    const Float b = b_moves ? V::load(task.b + i) : fixed_b;
    V::store(task.output + i, operation(a, b));
  }
  if (const std::int64_t left = task.count - i; left > 0) {
    const Float a = task.a_moves ? V::load_part(task.a + i, left) : fixed_a;
    const Float b = b_moves ? V::load_part(task.b + i, left) : fixed_b;
    V::store_part(task.output + i, operation(a, b), left);
  }
}

template <typename V, Activation activation>
void map_activation(const MapTask& task) {
  using Float = typename V::Float;
  map_block<V>(task,
               [&](Float x, Float) { return activate<V, activation>(x, task.low, task.high); });
}

template <typename V>
void map_activations(const MapTask& task) {
  switch (task.activation) {
    case Activation::none:
      return map_activation<V, Activation::none>(task);
    case Activation::clip:
      return map_activation<V, Activation::clip>(task);
    case Activation::leaky_relu:
      return map_activation<V, Activation::leaky_relu>(task);
    case Activation::hard_sigmoid:
      return map_activation<V, Activation::hard_sigmoid>(task);
    case Activation::hard_swish:
      return map_activation<V, Activation::hard_swish>(task);
    case Activation::sigmoid:
      return map_activation<V, Activation::sigmoid>(task);
    case Activation::silu:
      return map_activation<V, Activation::silu>(task);
    case Activation::tanh:
      return map_activation<V, Activation::tanh>(task);
    case Activation::gelu:
      return map_activation<V, Activation::gelu>(task);
  }
}

template <typename V>
void map(const MapTask& task) {
  using Float = typename V::Float;
  switch (task.operation) {
    case MapOperation::add:
      return map_block<V>(task, [](Float a, Float b) { return a + b; });
    case MapOperation::subtract:
      return map_block<V>(task, [](Float a, Float b) { return a - b; });
    case MapOperation::multiply:
      return map_block<V>(task, [](Float a, Float b) { return a * b; });
    case MapOperation::divide:
      return map_block<V>(task, [](Float a, Float b) { return a / b; });
    case MapOperation::activate:
      return map_activations<V>(task);
  }
}

}  // namespace plimsoll::tensor::kernels
