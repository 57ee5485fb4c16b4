// Tensors that dynamic operators cut and join. Why it exists: sequences, Loop and Scan all take
// slices of tensors and put slices together. May touch: dynamic.h.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tensor/operators/dynamic.h"

namespace plimsoll::tensor {

using TensorPointer = std::shared_ptr<const OwnedTensor>;

void register_sequence_operators(OperatorTable& table);
void register_optional_operators(OperatorTable& table);
void register_loop(OperatorTable& table);
void register_scan(OperatorTable& table);

/// The value as a tensor with ownership; throws Error(bad_input) naming `what` when it is none.
[[nodiscard]] TensorPointer owned_tensor(DynamicValue value, const char* what);

/// A new tensor of one integer or boolean, rank 0.
[[nodiscard]] TensorPointer make_integer(DynamicContext& context, std::int64_t value);
[[nodiscard]] TensorPointer make_boolean(DynamicContext& context, bool value);

/// Elements [first, first + count) along `axis`, as a new tensor. Without `keep` the axis, of count
/// 1, goes.
[[nodiscard]] TensorPointer cut(DynamicContext& context, const ConstTensorView& view,
                                std::size_t axis, std::int64_t first, std::int64_t count,
                                bool keep);

/// Tensors of one type and shape joined along a new axis; in reverse order where asked. Throws
/// Error(bad_input) where they differ. There must be at least one.
[[nodiscard]] TensorPointer stack(DynamicContext& context, std::span<const TensorPointer> items,
                                  std::size_t axis, bool reverse = false);
/// Tensors joined along an axis that they have.
[[nodiscard]] TensorPointer concatenate(DynamicContext& context,
                                        std::span<const TensorPointer> items, std::size_t axis);

/// What a stack of no items is: the declared type of one with a dimension of 0 put in at `axis`.
/// Dimensions that are not declared are 0 too. Throws Error(bad_input) without a declared type.
[[nodiscard]] TensorPointer empty_stack(DynamicContext& context, const Graph& body, ValueId value,
                                        std::size_t axis);

}  // namespace plimsoll::tensor
