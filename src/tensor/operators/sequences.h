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

/// Tensors of one type and shape joined along a new axis. Throws Error(bad_input) where they
/// differ. There must be at least one.
[[nodiscard]] TensorPointer stack(DynamicContext& context, std::span<const TensorPointer> items,
                                  std::size_t axis);
/// Tensors joined along an axis that they have.
[[nodiscard]] TensorPointer concatenate(DynamicContext& context,
                                        std::span<const TensorPointer> items, std::size_t axis);

/// A stack that grows item by item. Where the number of items is known the result is allocated with
/// the first and each item is copied and let go at once; otherwise the items are kept until the end
/// and memory is needed twice.
class StackBuilder {
 public:
  static constexpr std::int64_t unknown = -1;

  /// `axis` may count from the end of the result.
  StackBuilder(std::int64_t expected, std::int64_t axis, bool reverse)
      : expected_(expected), axis_(axis), reverse_(reverse) {}
  /// Throws Error(bad_input) for an item of another type or shape than the first.
  void add(DynamicContext& context, TensorPointer item);
  /// The stack of what was added; null where that is nothing.
  [[nodiscard]] TensorPointer finish(DynamicContext& context);

 private:
  void place(DynamicContext& context, const OwnedTensor& item);

  std::int64_t expected_;
  std::int64_t axis_;
  bool reverse_;
  TensorType type_;  // of an item
  std::int64_t count_ = 0;
  std::shared_ptr<OwnedTensor> result_;
  std::vector<TensorPointer> items_;
};

/// What a stack of no items is: the declared type of one with a dimension of 0 put in at `axis`.
/// Dimensions that are not declared are 0 too. Throws Error(bad_input) without a declared type.
[[nodiscard]] TensorPointer empty_stack(DynamicContext& context, const Graph& body, ValueId value,
                                        std::size_t axis);

}  // namespace plimsoll::tensor
