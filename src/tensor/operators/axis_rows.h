// A tensor as rows along one axis. Why it exists: softmaxes, norms, quantisation and Fourier
// transforms all work along an axis, whatever surrounds it. May touch: shape.h.
//
//   outer × size × inner: element i of row (o, k) is at (o · size + i) · inner + k
#pragma once

#include <cstddef>
#include <cstdint>

#include "plimsoll/shape.h"

namespace plimsoll::tensor {

struct AxisRows {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;

  AxisRows() = default;
  AxisRows(const Shape& shape, std::size_t axis)
      : outer(shape.product(0, axis)),
        size(shape[axis]),
        inner(shape.product(axis + 1, shape.rank())) {}
};

}  // namespace plimsoll::tensor
