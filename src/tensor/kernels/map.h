// An elementwise operation on a block of elements. Why it exists: the kernels of all targets and
// the nodes that call them share it. May touch: epilogue.h.
#pragma once

#include <cstdint>

#include "tensor/kernels/epilogue.h"

namespace plimsoll::tensor::kernels {

enum class MapOperation : std::uint8_t { add, subtract, multiply, divide, activate };

/// output[i] = a[i] operation b[i], or activation(a[i]), for `count` elements. An operand that does
/// not move is one number for all. The output may be an operand's memory.
struct MapTask {
  MapOperation operation = MapOperation::add;
  const float* a = nullptr;
  const float* b = nullptr;  ///< null for an activation
  bool a_moves = true;
  bool b_moves = true;
  float* output = nullptr;
  std::int64_t count = 0;
  Activation activation = Activation::none;
  float low = 0;
  float high = 0;
};

}  // namespace plimsoll::tensor::kernels
