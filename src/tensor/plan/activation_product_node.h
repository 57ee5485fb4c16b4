// Matrix products of two activations. Why it exists: attention multiplies what it has just
// computed, so there is no weight to pack ahead; the right factor is packed while it runs, a group
// of columns at a time. May touch: kernel_node.h, product_node.h, kernels/.
//
// Operands are walked with strides, so that heads which were split and transposed are read, and
// written, where they are.
#pragma once

#include <vector>

#include "tensor/plan/kernel_node.h"
#include "tensor/plan/product_node.h"

namespace plimsoll::tensor {

/// A batch of matrices in memory; all numbers are elements.
struct MatrixBatch {
  std::int64_t offset = 0;
  std::vector<std::int64_t> batch_strides;  ///< 0 where the operand is repeated
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
};

/// Inputs: 0 the left factor, 1 the right one, 2 the residual where the epilogue has one. The left
/// factor's, the residual's and the output's columns lie side by side; the right factor's strides
/// may be any.
struct ActivationProductNode : KernelNode {
  kernels::Target target = kernels::Target::generic;
  OwnedEpilogue epilogue;
  std::vector<std::int64_t> batch;  ///< sizes of the batch dimensions
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  MatrixBatch left;
  MatrixBatch right;
  MatrixBatch output;
  MatrixBatch residual;
  /// The output's dimensions are no longer the product's own, but for the last.
  bool transposed = false;

  /// A factor that is a weight is read as it is.
  [[nodiscard]] Encoding encoding(std::size_t input, const WeightView& view) const override;
  [[nodiscard]] std::uint64_t scratch_bytes(int threads) const override;
  void run(const KernelContext& context) const override;

 private:
  struct Groups;
  class Worker;
  [[nodiscard]] Groups groups(int threads) const;
  [[nodiscard]] std::int64_t batches() const;
  [[nodiscard]] std::int64_t offset(const MatrixBatch& matrix, std::int64_t batch_index) const;
};

}  // namespace plimsoll::tensor
