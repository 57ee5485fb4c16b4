#include "tensor/operators/dynamic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"
#include "tensor/operators/sequences.h"
#include "tensor/operators/strided_copy.h"

namespace plimsoll::tensor {

ConstTensorView DynamicContext::tensor(std::size_t index) const {
  return owned_tensor(input(index), fmt::format("input {}", index).c_str())->view();
}

const SequenceValue& DynamicContext::sequence(std::size_t index) const {
  const DynamicValue value = input(index);
  const auto* found = std::get_if<std::shared_ptr<const SequenceValue>>(&value);
  if (found == nullptr || *found == nullptr) {
    fail_input(fmt::format("input {} is not a sequence", index));
  }
  // The runner holds the value while the operator executes.
  return **found;
}

TensorPointer owned_tensor(DynamicValue value, const char* what) {
  auto* found = std::get_if<TensorPointer>(&value);
  if (found == nullptr || *found == nullptr) {
    fail_input(fmt::format("{} is not a tensor", what));
  }
  return std::move(*found);
}

TensorPointer make_integer(DynamicContext& context, std::int64_t value) {
  const auto tensor = context.allocate({ElementType::i64, Shape{}});
  std::memcpy(tensor->data(), &value, sizeof value);
  return tensor;
}

TensorPointer make_boolean(DynamicContext& context, bool value) {
  const auto tensor = context.allocate({ElementType::boolean, Shape{}});
  *tensor->data() = static_cast<std::byte>(value);
  return tensor;
}

TensorPointer cut(DynamicContext& context, const ConstTensorView& view, std::size_t axis,
                  std::int64_t first, std::int64_t count, bool keep) {
  std::vector<std::int64_t> dimensions = to_vector(view.shape);
  dimensions[axis] = count;
  if (!keep) dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(axis));
  const auto tensor = context.allocate({view.type, Shape(dimensions)});
  const std::int64_t unit = view.shape.product(axis + 1, view.shape.rank()) *
                            static_cast<std::int64_t>(element_size(view.type));
  copy_rows(context.threads(), view.shape.product(0, axis), count * unit, view.data + first * unit,
            view.shape[axis] * unit, tensor->data(), count * unit);
  return tensor;
}

void StackBuilder::add(DynamicContext& context, TensorPointer item) {
  if (count_ == 0) {
    type_ = item->type;
    axis_ = static_cast<std::int64_t>(normalize_axis(axis_, type_.shape.rank() + 1));
  } else if (item->type != type_) {
    fail_input(fmt::format("tensors of {} {} and {} {} cannot be stacked",
                           element_name(type_.element), type_.shape.to_string(),
                           element_name(item->type.element), item->type.shape.to_string()));
  }
  if (expected_ == unknown) {
    items_.push_back(std::move(item));
  } else {
    place(context, *item);
  }
  ++count_;
}

/// Copies an item, the count_-th, to its place.
void StackBuilder::place(DynamicContext& context, const OwnedTensor& item) {
  const auto axis = static_cast<std::size_t>(axis_);
  if (result_ == nullptr) {
    std::vector<std::int64_t> dimensions = to_vector(type_.shape);
    dimensions.insert(dimensions.begin() + static_cast<std::ptrdiff_t>(axis), expected_);
    result_ = context.allocate({type_.element, Shape(dimensions)});
  }
  const std::int64_t row = type_.shape.product(axis, type_.shape.rank()) *
                           static_cast<std::int64_t>(element_size(type_.element));
  const std::int64_t place = reverse_ ? expected_ - 1 - count_ : count_;
  copy_rows(context.threads(), type_.shape.product(0, axis), row, item.data(), row,
            result_->data() + place * row, expected_ * row);
}

TensorPointer StackBuilder::finish(DynamicContext& context) {
  if (count_ == 0) return nullptr;
  if (expected_ == unknown) {
    expected_ = count_;
    count_ = 0;
    for (TensorPointer& item : items_) {
      place(context, *item);
      item.reset();
      ++count_;
    }
    items_.clear();
  } else if (count_ < expected_) {
    const std::int64_t first = reverse_ ? expected_ - count_ : 0;
    return cut(context, std::as_const(*result_).view(), static_cast<std::size_t>(axis_), first,
               count_, true);
  }
  return std::move(result_);
}

TensorPointer stack(DynamicContext& context, std::span<const TensorPointer> items,
                    std::size_t axis) {
  StackBuilder builder(static_cast<std::int64_t>(items.size()), static_cast<std::int64_t>(axis),
                       false);
  for (const TensorPointer& item : items) builder.add(context, item);
  return builder.finish(context);
}

TensorPointer concatenate(DynamicContext& context, std::span<const TensorPointer> items,
                          std::size_t axis) {
  const TensorType& type = items[0]->type;
  std::int64_t sum = 0;
  for (const TensorPointer& item : items) {
    const Shape& shape = item->type.shape;
    bool fits = item->type.element == type.element && shape.rank() == type.shape.rank();
    for (std::size_t other = 0; fits && other < shape.rank(); ++other) {
      fits = other == axis || shape[other] == type.shape[other];
    }
    if (!fits) {
      fail_input(fmt::format("shapes {} and {} do not join along dimension {}",
                             type.shape.to_string(), shape.to_string(), axis));
    }
    sum = checked_sum(sum, shape[axis], "the joined dimension");
  }
  std::vector<std::int64_t> dimensions = to_vector(type.shape);
  dimensions[axis] = sum;
  const auto tensor = context.allocate({type.element, Shape(dimensions)});
  const std::int64_t unit = type.shape.product(axis + 1, type.shape.rank()) *
                            static_cast<std::int64_t>(element_size(type.element));
  std::byte* to = tensor->data();
  for (const TensorPointer& item : items) {
    const std::int64_t row = item->type.shape[axis] * unit;
    copy_rows(context.threads(), type.shape.product(0, axis), row, item->data(), row, to,
              sum * unit);
    to += row;
  }
  return tensor;
}

TensorPointer empty_stack(DynamicContext& context, const Graph& body, ValueId value,
                          std::size_t axis) {
  const auto& declared = body.values[value].declared;
  if (!declared || declared->element == ElementType::undefined) {
    fail_input(fmt::format("the body never ran, and the type of its output '{}' is not declared",
                           body.values[value].name));
  }
  std::vector<std::int64_t> dimensions;
  if (declared->dimensions) {
    for (const Dimension& dimension : *declared->dimensions) {
      dimensions.push_back(std::max<std::int64_t>(0, dimension.value));
    }
  }
  dimensions.insert(
      dimensions.begin() + static_cast<std::ptrdiff_t>(std::min(axis, dimensions.size())), 0);
  return context.allocate({declared->element, Shape(dimensions)});
}

void register_sequences(OperatorTable& table) {
  register_sequence_operators(table);
  register_optional_operators(table);
  register_loop(table);
  register_scan(table);
}

}  // namespace plimsoll::tensor
