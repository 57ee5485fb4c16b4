// Operators on sequences. Elements are shared, never copied: a sequence is a list of pointers.
#include "tensor/operators/sequences.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/operators/checks.h"

namespace plimsoll::tensor {
namespace {

/// A position that may count from the end. `last` is the largest that is allowed.
std::size_t position_of(const DynamicContext& context, std::size_t index, std::size_t length,
                        std::size_t last) {
  const std::vector<std::int64_t> values = read_integers(context.tensor(index));
  if (values.size() != 1) fail_input(fmt::format("input {} must be one integer", index));
  const auto size = static_cast<std::int64_t>(length);
  if (values[0] < -size || values[0] > static_cast<std::int64_t>(last)) {
    fail_input(fmt::format("position {} in a sequence of {}", values[0], length));
  }
  return static_cast<std::size_t>(values[0] < 0 ? values[0] + size : values[0]);
}

/// An empty sequence that came from outside may not know its type yet: the first element sets it.
void check_element(SequenceValue& sequence, const TensorPointer& item) {
  if (sequence.element == ElementType::undefined) sequence.element = item->type.element;
  if (item->type.element != sequence.element) {
    fail_input(fmt::format("a tensor of type {} does not belong into a sequence of type {}",
                           element_name(item->type.element), element_name(sequence.element)));
  }
}

void set_sequence(DynamicContext& context, std::size_t index, SequenceValue sequence) {
  context.set_output(index, std::make_shared<const SequenceValue>(std::move(sequence)));
}

void execute_construct(DynamicContext& context) {
  SequenceValue sequence;
  for (std::size_t index = 0; index < context.node().inputs.size(); ++index) {
    TensorPointer item = owned_tensor(context.input(index), "an element");
    check_element(sequence, item);
    sequence.items.push_back(std::move(item));
  }
  if (sequence.items.empty()) fail_input("a sequence is made of at least one tensor");
  set_sequence(context, 0, std::move(sequence));
}

void execute_empty(DynamicContext& context) {
  SequenceValue sequence;
  sequence.element = element_attribute(context.node(), "dtype", ElementType::f32);
  set_sequence(context, 0, std::move(sequence));
}

void execute_at(DynamicContext& context) {
  const SequenceValue& sequence = context.sequence(0);
  const std::size_t length = sequence.items.size();
  if (length == 0) fail_input("the sequence is empty");
  context.set_output(0, sequence.items[position_of(context, 1, length, length - 1)]);
}

void execute_insert(DynamicContext& context) {
  SequenceValue sequence = context.sequence(0);
  TensorPointer item = owned_tensor(context.input(1), "the new element");
  check_element(sequence, item);
  const std::size_t length = sequence.items.size();
  const std::size_t position =
      context.has_input(2) ? position_of(context, 2, length, length) : length;
  sequence.items.insert(sequence.items.begin() + static_cast<std::ptrdiff_t>(position),
                        std::move(item));
  set_sequence(context, 0, std::move(sequence));
}

void execute_erase(DynamicContext& context) {
  SequenceValue sequence = context.sequence(0);
  const std::size_t length = sequence.items.size();
  if (length == 0) fail_input("the sequence is empty");
  const std::size_t position =
      context.has_input(1) ? position_of(context, 1, length, length - 1) : length - 1;
  sequence.items.erase(sequence.items.begin() + static_cast<std::ptrdiff_t>(position));
  set_sequence(context, 0, std::move(sequence));
}

void execute_length(DynamicContext& context) {
  const auto length = static_cast<std::int64_t>(context.sequence(0).items.size());
  context.set_output(0, make_integer(context, length));
}

/// `split` absent: parts of 1, whose axis goes without `keepdims`; one number: parts of that size,
/// the last may be smaller; several: the sizes.
void execute_split(DynamicContext& context) {
  const TensorPointer input = owned_tensor(context.input(0), "input 0");
  const ConstTensorView view = input->view();
  const std::size_t axis = normalize_axis(context.node().integer("axis", 0), view.shape.rank());
  const std::int64_t dimension = view.shape[axis];
  std::vector<std::int64_t> sizes;
  bool keep = true;
  if (!context.has_input(1)) {
    keep = context.node().integer("keepdims", 1) != 0;
    sizes.assign(static_cast<std::size_t>(dimension), 1);
  } else {
    const ConstTensorView split = context.tensor(1);
    sizes = read_integers(split);
    if (split.shape.rank() == 0) {
      const std::int64_t size = sizes[0];
      if (size <= 0) fail_input(fmt::format("parts of size {}", size));
      sizes.clear();
      for (std::int64_t rest = dimension; rest > 0; rest -= std::min(rest, size)) {
        sizes.push_back(std::min(rest, size));
      }
    }
  }
  std::int64_t sum = 0;
  for (std::int64_t size : sizes) sum = checked_sum(sum, size, "the sizes of the parts");
  if (sum != dimension || std::ranges::any_of(sizes, [](std::int64_t size) { return size < 0; })) {
    fail_input(fmt::format("parts of {} in all for a dimension of {}", sum, dimension));
  }
  SequenceValue sequence;
  sequence.element = view.type;
  std::int64_t first = 0;
  for (std::int64_t size : sizes) {
    sequence.items.push_back(cut(context, view, axis, first, size, keep));
    first += size;
  }
  set_sequence(context, 0, std::move(sequence));
}

void execute_concat(DynamicContext& context) {
  const SequenceValue& sequence = context.sequence(0);
  if (sequence.items.empty()) fail_input("an empty sequence cannot be joined");
  const bool new_axis = context.node().integer("new_axis", 0) != 0;
  const std::size_t rank = sequence.items[0]->type.shape.rank() + (new_axis ? 1 : 0);
  const std::size_t axis = normalize_axis(context.node().integer("axis"), rank);
  context.set_output(0, new_axis ? stack(context, sequence.items, axis)
                                 : concatenate(context, sequence.items, axis));
}

/// Runs the body for each element. Further inputs are sequences of the same length, taken element
/// by element, or tensors, given to every run. Outputs are sequences.
void execute_map(DynamicContext& context) {
  const auto body = context.node().graph("body");
  const std::size_t length = context.sequence(0).items.size();
  std::vector<DynamicValue> inputs;
  for (std::size_t index = 0; index < context.node().inputs.size(); ++index) {
    inputs.push_back(context.input(index));
    const auto* sequence = std::get_if<std::shared_ptr<const SequenceValue>>(&inputs.back());
    if (sequence != nullptr && (*sequence)->items.size() != length) {
      fail_input(fmt::format("sequences of {} and {} elements", length, (*sequence)->items.size()));
    }
  }
  std::vector<SequenceValue> outputs(body->outputs.size());
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    const auto& declared = body->values[body->outputs[index]].declared;
    if (declared) outputs[index].element = declared->element;
  }
  for (std::size_t position = 0; position < length; ++position) {
    std::vector<DynamicValue> arguments;
    for (const DynamicValue& input : inputs) {
      const auto* sequence = std::get_if<std::shared_ptr<const SequenceValue>>(&input);
      arguments.push_back(sequence != nullptr ? DynamicValue((*sequence)->items[position]) : input);
    }
    std::vector<DynamicValue> results = context.run_subgraph(*body, std::move(arguments));
    for (std::size_t index = 0; index < outputs.size(); ++index) {
      TensorPointer item = owned_tensor(std::move(results.at(index)), "an output of the body");
      outputs[index].element = item->type.element;
      outputs[index].items.push_back(std::move(item));
    }
  }
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    set_sequence(context, index, std::move(outputs[index]));
  }
}

// Optionals: a value, or std::monostate.

void execute_optional(DynamicContext& context) {
  context.set_output(0, context.has_input(0) ? context.input(0) : DynamicValue());
}

void execute_has_element(DynamicContext& context) {
  const bool present =
      context.has_input(0) && !std::holds_alternative<std::monostate>(context.input(0));
  context.set_output(0, make_boolean(context, present));
}

void execute_get_element(DynamicContext& context) {
  DynamicValue value = context.input(0);
  if (std::holds_alternative<std::monostate>(value)) fail_input("the optional is empty");
  context.set_output(0, std::move(value));
}

}  // namespace

void register_sequence_operators(OperatorTable& table) {
  const auto add = [&table](std::string_view name, int version, void (*execute)(DynamicContext&)) {
    table.add({.name = name, .since_version = version, .execute = execute});
  };
  add("SequenceConstruct", 11, execute_construct);
  add("SequenceEmpty", 11, execute_empty);
  add("SequenceAt", 11, execute_at);
  add("SequenceInsert", 11, execute_insert);
  add("SequenceErase", 11, execute_erase);
  add("SequenceLength", 11, execute_length);
  add("SplitToSequence", 11, execute_split);
  add("ConcatFromSequence", 11, execute_concat);
  add("SequenceMap", 17, execute_map);
}

void register_optional_operators(OperatorTable& table) {
  table.add({.name = "Optional", .since_version = 15, .execute = execute_optional});
  for (int version : {15, 18}) {
    table.add(
        {.name = "OptionalHasElement", .since_version = version, .execute = execute_has_element});
    table.add(
        {.name = "OptionalGetElement", .since_version = version, .execute = execute_get_element});
  }
}

}  // namespace plimsoll::tensor
