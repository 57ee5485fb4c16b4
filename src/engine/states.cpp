#include "engine/states.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/declared.h"

namespace plimsoll {
namespace {

std::uint64_t bytes_of(const tensor::TensorType& type) {
  return static_cast<std::uint64_t>(type.shape.elements()) * element_size(type.element);
}

/// Makes `block` hold `bytes`. What was in it is gone.
std::expected<void, Refusal> fit(memory::Block& block, std::uint64_t bytes,
                                 memory::Budget& budget) {
  if (block.data() != nullptr && block.size() >= bytes) return {};
  block.reset();
  auto larger = memory::Block::allocate(budget, bytes, "state");
  if (!larger) return std::unexpected(std::move(larger.error()));
  block = std::move(*larger);
  return {};
}

void check_binding(const Session::State& session, const Session::State::StateBinding& binding,
                   const tensor::TensorType& type) {
  const tensor::Graph& graph = session.graph();
  try {
    check_declared(graph.values[graph.inputs[binding.input]], type.element, type.shape);
  } catch (Error& error) {
    error.add_context(fmt::format("output '{}' cannot be the next run's input",
                                  graph.values[graph.outputs[binding.output]].name));
    throw;
  }
}

}  // namespace

std::uint64_t missing_state_bytes(const Session::State& session) {
  std::uint64_t total = 0;
  for (const auto& binding : session.bindings) {
    const auto type = session.execution->planned_output(binding->output);
    if (!type) continue;
    for (const memory::Block& block : binding->memory) {
      const std::uint64_t bytes = std::max<std::uint64_t>(bytes_of(*type), 1);
      if (block.size() < bytes) total += bytes - block.size();
    }
  }
  return total;
}

std::expected<void, Refusal> prepare_states(Session::State& session) {
  for (auto& binding : session.bindings) {
    const auto type = session.execution->planned_output(binding->output);
    if (!type) {
      session.execution->set_output(binding->output, {});
      continue;
    }
    check_binding(session, *binding, *type);
    memory::Block& block = binding->memory[binding->side];
    if (auto done = fit(block, bytes_of(*type), *session.budget); !done) return done;
    session.execution->set_output(binding->output, {type->element, type->shape, block.data()});
  }
  return {};
}

std::expected<void, Refusal> rotate_states(Session::State& session) {
  for (auto& binding : session.bindings) {
    const tensor::ExecutionValue& output = session.execution->outputs().at(binding->output);
    tensor::ExecutionValue input;
    input.type = output.type;
    input.sequence = output.sequence;
    input.absent = output.absent;
    if (!output.sequence && !output.absent) {
      check_binding(session, *binding, output.type);
      memory::Block& block = binding->memory[binding->side];
      if (output.data != block.data()) {
        const std::uint64_t bytes = bytes_of(output.type);
        if (auto done = fit(block, bytes, *session.budget); !done) return done;
        if (bytes != 0) std::memcpy(block.data(), output.data, bytes);
      }
      input.data = block.data();
    }
    session.execution->set_input(binding->input, input, true);
    session.input_set[binding->input] = true;
    binding->side ^= 1;
  }
  return {};
}

}  // namespace plimsoll
