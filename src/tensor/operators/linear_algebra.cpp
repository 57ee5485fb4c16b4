// MatMul, and the shapes of all matrix products. Semantics: ONNX Operators.md.
#include "tensor/operators/linear_algebra.h"

#include <fmt/format.h>

#include "tensor/operators/broadcast.h"
#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"

namespace plimsoll::tensor {

MatrixProductShape::MatrixProductShape(const Shape& a, const Shape& b) {
  if (a.rank() == 0 || b.rank() == 0) fail_input("a scalar has no matrix product");
  const bool vector_a = a.rank() == 1;
  const bool vector_b = b.rank() == 1;
  k = a.back();
  m = vector_a ? 1 : a[a.rank() - 2];
  const std::int64_t rows = vector_b ? b[0] : b[b.rank() - 2];
  n = vector_b ? 1 : b.back();
  if (rows != k) {
    fail_input(fmt::format("inputs of shape {} and {} have no matrix product: {} and {} differ",
                           a.to_string(), b.to_string(), k, rows));
  }
  if (!vector_a) batch_a = Shape(a.dimensions().first(a.rank() - 2));
  if (!vector_b) batch_b = Shape(b.dimensions().first(b.rank() - 2));
  batch = broadcast_shape(batch_a, batch_b);
  std::vector<std::int64_t> dimensions = to_vector(batch);
  if (!vector_a) dimensions.push_back(m);
  if (!vector_b) dimensions.push_back(n);
  output = Shape(dimensions);
}

std::int64_t MatrixProductShape::operand_batch(const Shape& operand, std::int64_t at) const {
  std::int64_t offset = 0;
  std::int64_t scale = 1;
  for (std::size_t back = 1; back <= operand.rank(); ++back) {
    const std::int64_t size = batch[batch.rank() - back];
    const std::int64_t own = operand[operand.rank() - back];
    if (own != 1) offset += at % size * scale;
    at /= size;
    scale *= own;
  }
  return offset;
}

namespace {

using MatMulTypes =
    decltype(FloatTypes{} + Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{});

void infer_matmul(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& a = check_type(context, 0, set_of(MatMulTypes{}));
  check_same_type(context, 0, 1);
  context.set_output(0, a.element, MatrixProductShape(a.shape, context.input(1).shape).output);
}

void run_matmul(RunContext& context) {
  const MatrixProductShape shape(context.input(0).shape, context.input(1).shape);
  dispatch(context.input(0).type, MatMulTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using Sum = ProductSum<T>;
    const T* a = context.input(0).as<T>();
    const T* b = context.input(1).as<T>();
    T* y = context.output(0).as<T>();
    const auto left = [&](std::int64_t batch) {
      const T* matrix = a + shape.left_batch(batch) * shape.m * shape.k;
      return [matrix, step = shape.k](std::int64_t i, std::int64_t k) {
        return static_cast<Sum>(load(matrix[i * step + k]));
      };
    };
    const auto right = [&](std::int64_t batch) {
      const T* matrix = b + shape.right_batch(batch) * shape.k * shape.n;
      return [matrix, step = shape.n](std::int64_t k, std::int64_t j) {
        return static_cast<Sum>(load(matrix[k * step + j]));
      };
    };
    const auto put = [&](std::int64_t batch, std::int64_t i, std::int64_t j, Sum sum) {
      y[(batch * shape.m + i) * shape.n + j] = store<T>(sum);
    };
    if (shape.n == 1) {
      // A column is contiguous along k; saying so with a step of 1 lets the loop vectorise.
      const auto column = [&](std::int64_t batch) {
        const T* matrix = b + shape.right_batch(batch) * shape.k;
        return [matrix](std::int64_t k, std::int64_t /*j*/) {
          return static_cast<Sum>(load(matrix[k]));
        };
      };
      multiply<Sum, ProductOrder::depth>(context.threads(), shape.size(), left, column, put);
    } else {
      multiply<Sum, ProductOrder::columns>(context.threads(), shape.size(), left, right, put);
    }
  });
}

}  // namespace

void register_linear_algebra(OperatorTable& table) {
  table.add({.name = "MatMul", .infer = infer_matmul, .run = run_matmul});
  register_gemm(table);
  register_quantized_products(table);
  register_einsum(table);
  register_determinant(table);
}

}  // namespace plimsoll::tensor
