// ArgMax, ArgMin and CumSum: operators along one axis. Why it exists: they belong to the reductions
// but share no loop with them. May touch: operator.h.
#pragma once

#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

void register_scans(OperatorTable& table);

/// A tensor seen along one axis: outer × length × inner, row-major.
struct AxisView {
  std::int64_t outer;
  std::int64_t length;
  std::int64_t inner;

  AxisView(const Shape& shape, std::size_t axis)
      : outer(shape.product(0, axis)),
        length(shape[axis]),
        inner(shape.product(axis + 1, shape.rank())) {}
};

}  // namespace plimsoll::tensor
