// What an Einsum equation says about given shapes. Why it exists: reading the notation and running
// the sum are two jobs. May touch: shape.h, error.h.
//
//   "bij, bjk -> bik"      a letter is a dimension; those missing on the right are summed
//   "...ij, ...jk"         `...` stands for the dimensions left over, which broadcast; without an
//                          arrow the right side is `...` and the letters that occur once, sorted
//   "ii -> i"              a letter twice in one operand is a diagonal
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plimsoll/shape.h"

namespace plimsoll::tensor {

struct EinsumEquation {
  /// One letter, or one dimension of the ellipsis.
  struct Label {
    std::int64_t size = 1;
    std::vector<std::int64_t> steps;  ///< in elements of each operand; 0 where it does not occur
  };
  std::vector<Label> output;  ///< in the output's order
  std::vector<Label> summed;
  Shape shape;  ///< of the output

  /// Throws Error(bad_input) for equations that are malformed or do not fit the operands.
  EinsumEquation(std::string_view equation, std::span<const Shape> operands);
};

}  // namespace plimsoll::tensor
