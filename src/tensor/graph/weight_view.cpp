#include "tensor/graph/program.h"

namespace plimsoll::tensor {
namespace {

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.rank());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

}  // namespace

WeightView WeightView::of(std::shared_ptr<const StoredTensor> stored) {
  WeightView view;
  view.type = {stored->type, stored->shape};
  view.strides = row_major_strides(stored->shape);
  view.stored = std::move(stored);
  return view;
}

bool WeightView::dense() const {
  const std::vector<std::int64_t> expected = row_major_strides(type.shape);
  for (std::size_t axis = 0; axis < expected.size(); ++axis) {
    if (type.shape[axis] != 1 && strides[axis] != expected[axis]) return false;
  }
  return true;
}

std::optional<WeightView> WeightView::reshaped(const Shape& shape) const {
  if (!dense()) return std::nullopt;
  WeightView view = *this;
  view.type.shape = shape;
  view.strides = row_major_strides(shape);
  return view;
}

WeightView WeightView::transposed(std::span<const std::int64_t> permutation) const {
  WeightView view = *this;
  std::vector<std::int64_t> dimensions(permutation.size());
  for (std::size_t axis = 0; axis < permutation.size(); ++axis) {
    const auto from = static_cast<std::size_t>(permutation[axis]);
    dimensions[axis] = type.shape[from];
    view.strides[axis] = strides[from];
  }
  view.type.shape = Shape(dimensions);
  return view;
}

}  // namespace plimsoll::tensor
