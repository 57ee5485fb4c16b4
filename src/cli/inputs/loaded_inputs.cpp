#include "cli/inputs/loaded_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/interrupt.h"

namespace plimsoll::cli {
namespace {

/// Shapes, axes, pads and scales have a few elements; their values may decide shapes.
constexpr std::int64_t small_elements = 64;

bool is_small(const Value& value) {
  std::int64_t elements = 0;
  for (const ValueType& item : value.items()) {
    elements += std::min(item.shape.elements(), small_elements + 1);
  }
  return elements <= small_elements;
}

ValueType declared_type(const ValueRequest& request) {
  if (element_size(request.element) == 0 || !request.dimensions || request.is_sequence) {
    fail_input(fmt::format("input '{}': the model only says {}; a value is needed for planning",
                           request.input, request.declared));
  }
  std::vector<std::int64_t> dimensions = *request.dimensions;
  for (std::int64_t& dimension : dimensions) dimension = dimension < 0 ? 1 : dimension;
  return {request.element, Shape(dimensions)};
}

}  // namespace

LoadedInputs::LoadedInputs(const Engine& engine, Session& session,
                           const std::vector<ValueRequest>& requests) {
  for (const ValueRequest& request : requests) {
    Input& input = inputs_.emplace_back();
    input.name = request.input;
    if (!request.text.empty()) input.value = open_value(request);
  }
  for (std::size_t index = 0; index < inputs_.size(); ++index) {
    Input& input = inputs_[index];
    if (input.value) {
      for (const ValueType& type : input.value->items()) claim(engine, input, type);
      scratch_bytes_ = std::max(scratch_bytes_, input.value->scratch_bytes());
    } else {
      claim(engine, input, declared_type(requests[index]));
    }
  }
  for (Input& input : inputs_) {
    const bool decides = input.value && input.value->scratch_bytes() == 0 &&
                         (is_small(*input.value) || input.value->is_sequence());
    if (decides && refused_bytes_ == 0) {
      if (auto outcome = read(engine, session, input); !outcome) {
        fail_internal("a value without scratch memory was refused some");
      }
    } else if (!(input.value && (input.value->is_sequence() || input.value->is_absent()))) {
      session.set_input_shape(input.name, input.items.front().type.type,
                              input.items.front().type.shape);
    }
  }
}

void LoadedInputs::claim(const Engine& engine, Input& input, const ValueType& type) {
  const std::uint64_t bytes =
      checked_bytes(type.shape, element_size(type.type), input.name.c_str());
  Item& item = input.items.emplace_back();
  item.type = type;
  auto memory = engine.allocate(bytes, fmt::format("input '{}'", input.name));
  if (memory) {
    item.memory = std::move(*memory);
  } else if (memory.error().by_kernel) {
    throw Error(ErrorKind::failure, memory.error().to_string());
  } else {
    refused_bytes_ += bytes;
  }
}

std::expected<void, Refusal> LoadedInputs::read_all(const Engine& engine, Session& session) {
  for (Input& input : inputs_) {
    throw_if_interrupted();
    if (input.is_read) continue;
    if (auto outcome = read(engine, session, input); !outcome) return outcome;
  }
  return {};
}

std::expected<void, Refusal> LoadedInputs::read(const Engine& engine, Session& session,
                                                Input& input) {
  std::vector<ConstTensorView> views;
  try {
    for (std::size_t index = 0; index < input.items.size(); ++index) {
      const Item& item = input.items[index];
      const TensorView view{item.type.type, item.type.shape, item.memory.data.get()};
      if (auto outcome = input.value->read(engine, index, view); !outcome) return outcome;
      views.push_back(view);
    }
  } catch (Error& error) {
    error.add_context(fmt::format("input '{}'", input.name));
    throw;
  }
  if (input.value->is_absent()) {
    session.set_input_absent(input.name);
  } else if (input.value->is_sequence()) {
    session.set_input_sequence(input.name, views);
  } else {
    session.set_input(input.name, views.front());
  }
  input.is_read = true;
  input.value.reset();  // closes its file
  return {};
}

}  // namespace plimsoll::cli
