// The parts of the family that chooses elements by index. Why it exists: gathering, scattering and
// choosing by value are files of their own. May touch: operator.h.
#pragma once

#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

void register_gathering(OperatorTable& table);
void register_scattering(OperatorTable& table);
void register_masks(OperatorTable& table);

/// The elements that GatherElements and ScatterElements address: position p of `indices` stands for
/// the data element at p, with the coordinate along `axis` replaced by the index there. Calls
/// body(first, count, base, step, indexed) row by row for rows [begin, end) of the indices: the row
/// holds index elements [first, first + count); the i-th addresses data element
/// base + i · step + index · axis_stride.
struct ElementRows {
  Shape indices;
  Shape data;
  std::size_t axis;
  std::int64_t axis_stride;

  ElementRows(const Shape& indices_shape, const Shape& data_shape, std::size_t along)
      : indices(indices_shape),
        data(data_shape),
        axis(along),
        axis_stride(data_shape.product(along + 1, data_shape.rank())) {}

  [[nodiscard]] std::int64_t rows() const {
    return indices.back() == 0 ? 0 : indices.elements() / indices.back();
  }
  template <typename F>
  void run(std::int64_t begin, std::int64_t end, const F& body) const {
    const std::size_t last = data.rank() - 1;
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t base = 0;
      std::int64_t rest = row;
      for (std::size_t dimension = last; dimension-- > 0;) {
        const std::int64_t position = rest % indices[dimension];
        rest /= indices[dimension];
        if (dimension != axis) base += position * data.product(dimension + 1, data.rank());
      }
      body(row * indices.back(), indices.back(), base, axis == last ? 0 : 1);
    }
  }
};

/// Throws Error(bad_input) unless ranks are equal and no dimension of the indices but `axis` is
/// larger than the data's.
void check_element_shapes(const Shape& data, const Shape& indices, std::size_t axis);

}  // namespace plimsoll::tensor
