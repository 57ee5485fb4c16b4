// Products of two activations → kernels that pack while they run. Why it exists: what lies around
// such a product in a model (splitting heads, transposing, scaling) joins it, and that is a matter
// of its own. May touch: rewriter.h, strided_view.h, activation_product_node.h.
#pragma once

#include <optional>

#include "tensor/plan/activation_product_node.h"
#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {

/// Emits the kernel for a MatMul or Gemm whose right factor is no matrix of weights that can be
/// packed ahead; false, with nothing emitted, for others.
[[nodiscard]] bool lower_activation_product(Rewriter& rewriter, const ProgramNode& node);

/// A Transpose that keeps the last axis, of such a kernel's result and its only reader: the kernel
/// writes its rows where the Transpose would. False, with nothing changed, otherwise.
[[nodiscard]] bool fuse_output_transpose(Rewriter& rewriter, const ProgramNode& node);

/// The value as the residual of a product, repeated where its shape is smaller; nothing where it
/// does not fit.
[[nodiscard]] std::optional<MatrixBatch> residual_matrices(Rewriter& rewriter,
                                                           const ActivationProductNode& product,
                                                           ValueId id);

}  // namespace plimsoll::tensor
