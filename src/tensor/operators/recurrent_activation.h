// The activations that RNN, GRU and LSTM name in attributes. Why it exists: the three share the
// list and its parameters (Operators.md: RNN). May touch: graph/, vector_math.h.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tensor/graph/graph.h"

namespace plimsoll::tensor {

struct Activation {
  enum class Kind : std::uint8_t {
    relu,              ///< max(0, x)
    tanh,              ///< tanh x
    sigmoid,           ///< 1 / (1 + e^−x)
    affine,            ///< alpha · x + beta
    leaky_relu,        ///< x, or alpha · x below 0
    thresholded_relu,  ///< x, or 0 below alpha
    scaled_tanh,       ///< alpha · tanh(beta · x)
    hard_sigmoid,      ///< alpha · x + beta within [0, 1]
    elu,               ///< x, or alpha · (e^x − 1) below 0
    softsign,          ///< x / (1 + |x|)
    softplus,          ///< log(1 + e^x)
  };
  Kind kind = Kind::tanh;
  float alpha = 0;
  float beta = 0;

  void apply(float* values, std::int64_t count) const;
  void apply(double* values, std::int64_t count) const;
};

/// `directions` times as many activations as there are `defaults`, which hold where the attribute
/// is absent. activation_alpha and activation_beta are consumed in the order of the activations
/// that take them. Throws Error(bad_input) for names that the standard does not have.
[[nodiscard]] std::vector<Activation> recurrent_activations(
    const Node& node, std::int64_t directions, std::initializer_list<std::string_view> defaults);

}  // namespace plimsoll::tensor
