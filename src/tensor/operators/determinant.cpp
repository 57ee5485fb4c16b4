// Det: the determinant of each matrix, by elimination with partial pivoting. Semantics: ONNX
// Operators.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tensor/operators/checks.h"
#include "tensor/operators/linear_algebra.h"

namespace plimsoll::tensor {
namespace {

void infer_determinant(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& input = check_type(context, 0, float_types);
  check_rank(context, 0, 2, Shape::max_rank);
  const std::size_t rank = input.shape.rank();
  if (input.shape[rank - 2] != input.shape[rank - 1]) {
    fail_input(fmt::format("matrices of shape {} are not square", input.shape.to_string()));
  }
  context.set_output(0, input.element, Shape(input.shape.dimensions().first(rank - 2)));
}

/// One matrix, which elimination overwrites.
std::uint64_t determinant_scratch(const InferContext& context) {
  const std::int64_t size = context.input(0).shape.back();
  return checked_bytes({size, size}, sizeof(double), "matrix");
}

double determinant(double* matrix, std::int64_t size) {
  double result = 1;
  for (std::int64_t column = 0; column < size; ++column) {
    std::int64_t pivot = column;
    for (std::int64_t row = column + 1; row < size; ++row) {
      if (std::abs(matrix[row * size + column]) > std::abs(matrix[pivot * size + column])) {
        pivot = row;
      }
    }
    if (matrix[pivot * size + column] == 0) return 0;
    double* own = matrix + column * size;
    if (pivot != column) {
      std::swap_ranges(own, own + size, matrix + pivot * size);
      result = -result;
    }
    result *= own[column];
    for (std::int64_t row = column + 1; row < size; ++row) {
      double* other = matrix + row * size;
      const double factor = other[column] / own[column];
      for (std::int64_t k = column + 1; k < size; ++k) other[k] -= factor * own[k];
    }
  }
  return result;
}

void run_determinant(RunContext& context) {
  const std::int64_t size = context.input(0).shape.back();
  auto* matrix = reinterpret_cast<double*>(context.scratch().data());
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    const T* x = context.input(0).as<T>();
    for (T& y : context.output(0).span<T>()) {
      for (std::int64_t i = 0; i < size * size; ++i) matrix[i] = static_cast<double>(load(x[i]));
      y = store<T>(determinant(matrix, size));
      x += size * size;
    }
  });
}

}  // namespace

void register_determinant(OperatorTable& table) {
  table.add({.name = "Det",
             .since_version = 11,
             .infer = infer_determinant,
             .run = run_determinant,
             .scratch = determinant_scratch});
}

}  // namespace plimsoll::tensor
