// What the operators of linear algebra share. Why it exists: MatMul and the quantised products have
// one rule for shapes, and each group is a file of its own. May touch: broadcast.h, product.h.
#pragma once

#include <concepts>

#include "tensor/operators/dispatch.h"
#include "tensor/operators/operator.h"
#include "tensor/operators/product.h"

namespace plimsoll::tensor {

/// What products of T are summed in: integers as unsigned ones, whose sums wrap.
template <typename T>
struct ProductSumOf {
  using Type = Compute<T>;
};
template <std::integral T>
struct ProductSumOf<T> {
  using Type = std::make_unsigned_t<T>;
};
template <typename T>
using ProductSum = typename ProductSumOf<T>::Type;

/// numpy.matmul's shapes: leading dimensions broadcast; vectors gain a dimension of 1 and lose it
/// again.
struct MatrixProductShape {
  Shape batch_a;
  Shape batch_b;
  Shape batch;
  std::int64_t m = 1;
  std::int64_t k = 0;
  std::int64_t n = 1;
  Shape output;

  /// Throws Error(bad_input) where the shapes do not fit.
  MatrixProductShape(const Shape& a, const Shape& b);
  [[nodiscard]] ProductSize size() const { return {batch.elements(), m, k, n}; }
  /// The batch of an operand that a batch of the output reads.
  [[nodiscard]] std::int64_t left_batch(std::int64_t at) const {
    return operand_batch(batch_a, at);
  }
  [[nodiscard]] std::int64_t right_batch(std::int64_t at) const {
    return operand_batch(batch_b, at);
  }

 private:
  [[nodiscard]] std::int64_t operand_batch(const Shape& operand, std::int64_t at) const;
};

void register_gemm(OperatorTable& table);
void register_quantized_products(OperatorTable& table);
void register_einsum(OperatorTable& table);
void register_determinant(OperatorTable& table);

}  // namespace plimsoll::tensor
