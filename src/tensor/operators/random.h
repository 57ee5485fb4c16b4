// Random numbers of the random operators. Why it exists: the same seed gives the same numbers on
// every machine and build. May touch: graph/graph.h, <random>.
#pragma once

#include <cstdint>
#include <random>

#include "tensor/graph/graph.h"

namespace plimsoll::tensor {

/// MT19937 with 53-bit uniforms and polar Gaussians: what NumPy's RandomState yields for the same
/// seed, and so the standard's reference implementation (Matsumoto and Nishimura 1998; Marsaglia
/// and Bray 1964).
class RandomGenerator {
 public:
  explicit RandomGenerator(std::uint32_t seed) : engine_(seed) {}
  /// In [0, 1).
  [[nodiscard]] double uniform();
  /// Mean 0, variance 1.
  [[nodiscard]] double normal();

 private:
  std::mt19937 engine_;
  double spare_ = 0;
  bool has_spare_ = false;
};

/// The node's `seed` attribute; where it is absent a number made from the node's name and outputs,
/// so that runs repeat and nodes differ.
[[nodiscard]] std::uint32_t random_seed(const Node& node);

}  // namespace plimsoll::tensor
