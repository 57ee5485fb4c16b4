// What happens to a sum before it is stored. Why it exists: bias, scale, residual and activation
// cost nothing while the tile is in registers. May touch: nothing.
#pragma once

#include <cstdint>

namespace plimsoll::tensor::kernels {

enum class Activation : std::uint8_t {
  none,
  clip,          ///< min(max(x, low), high): Relu, Relu6, Clip
  leaky_relu,    ///< x < 0 ? low·x : x
  hard_sigmoid,  ///< min(max(low·x + high, 0), 1)
  hard_swish,    ///< low·x·min(max(x + 3, 0), 6) + high; HardSwish itself: low = 1/6, high = 0
  sigmoid,
  silu,  ///< x·sigmoid(x)
  tanh,
  gelu,  ///< x·(1 + erf(x/√2))/2
};

/// y = activation(sum·scale + shift [+ residual]) [+ residual]
struct Epilogue {
  const float* scale = nullptr;  ///< per column; null: 1
  const float* shift = nullptr;  ///< per column; null: 0
  Activation activation = Activation::none;
  float low = 0;
  float high = 0;
  bool residual_after_activation = false;
};

}  // namespace plimsoll::tensor::kernels
