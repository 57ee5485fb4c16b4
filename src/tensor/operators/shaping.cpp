#include "tensor/operators/shaping.h"

#include "tensor/operators/families.h"

namespace plimsoll::tensor {

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.rank());
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    strides[axis] = shape.product(axis + 1, shape.rank());
  }
  return strides;
}

void register_shaping(OperatorTable& table) {
  register_reshaping(table);
  register_rearranging(table);
  register_joining(table);
  register_slicing(table);
  register_padding(table);
  register_dropout(table);
}

}  // namespace plimsoll::tensor
