// Scan: runs its body over slices of its inputs, carrying a state.
#include <fmt/format.h>

#include <algorithm>

#include "tensor/operators/checks.h"
#include "tensor/operators/sequences.h"

namespace plimsoll::tensor {
namespace {

/// Counts of a Scan node: body(states…, slices…) → (states…, scan outputs…).
struct ScanCounts {
  std::size_t states;
  std::size_t inputs;
  std::size_t outputs;

  ScanCounts(const Node& node, const Graph& body, std::size_t node_inputs) {
    const std::int64_t given = node.integer("num_scan_inputs");
    if (given < 1 || static_cast<std::uint64_t>(given) > node_inputs) {
      fail_input(fmt::format("attribute 'num_scan_inputs' is {}, the node has {} inputs", given,
                             node_inputs));
    }
    inputs = static_cast<std::size_t>(given);
    states = node_inputs - inputs;
    if (body.inputs.size() != node_inputs || body.outputs.size() < states ||
        node.outputs.size() > body.outputs.size()) {
      fail_input(
          fmt::format("a body with {} inputs and {} outputs does not match {} states and "
                      "{} scan inputs",
                      body.inputs.size(), body.outputs.size(), states, inputs));
    }
    outputs = body.outputs.size() - states;
  }
};

/// One integer for each of `count` items; the fallback for all where the attribute is absent.
std::vector<std::int64_t> integers_for(const Node& node, std::string_view key, std::size_t count,
                                       std::int64_t fallback) {
  std::vector<std::int64_t> values = node.integers(key);
  if (values.empty()) values.assign(count, fallback);
  if (values.size() != count) {
    fail_input(
        fmt::format("attribute '{}' has {} values, {} are needed", key, values.size(), count));
  }
  return values;
}

/// Runs the body `length` times over slices `slice(input, step)`; states are replaced, and what the
/// body scans out is stacked.
template <typename Slice>
void run_steps(DynamicContext& context, const Graph& body, const ScanCounts& counts,
               std::int64_t length, const Slice& slice, std::vector<TensorPointer>& states,
               std::vector<StackBuilder>& collected) {
  for (std::int64_t step = 0; step < length; ++step) {
    std::vector<DynamicValue> arguments;
    for (TensorPointer& state : states) arguments.emplace_back(std::move(state));
    for (std::size_t index = 0; index < counts.inputs; ++index) {
      arguments.emplace_back(slice(index, step));
    }
    std::vector<DynamicValue> results = context.run_subgraph(body, std::move(arguments));
    for (std::size_t index = 0; index < counts.states; ++index) {
      states[index] = owned_tensor(std::move(results.at(index)), "a state");
    }
    for (std::size_t index = 0; index < counts.outputs; ++index) {
      collected[index].add(
          context, owned_tensor(std::move(results.at(counts.states + index)), "a scan output"));
    }
  }
}

/// Version 9 and later: every scan input has an axis and a direction of its own, outputs too.
void execute_scan(DynamicContext& context) {
  const Node& node = context.node();
  const auto body = node.graph("body");
  const ScanCounts counts(node, *body, node.inputs.size());
  const auto axes = integers_for(node, "scan_input_axes", counts.inputs, 0);
  const auto directions = integers_for(node, "scan_input_directions", counts.inputs, 0);
  const auto output_axes = integers_for(node, "scan_output_axes", counts.outputs, 0);
  const auto output_directions = integers_for(node, "scan_output_directions", counts.outputs, 0);

  std::vector<TensorPointer> states;
  for (std::size_t index = 0; index < counts.states; ++index) {
    states.push_back(owned_tensor(context.input(index), "a state"));
  }
  std::vector<TensorPointer> inputs;
  std::vector<std::size_t> normal_axes;
  std::int64_t length = -1;
  for (std::size_t index = 0; index < counts.inputs; ++index) {
    inputs.push_back(owned_tensor(context.input(counts.states + index), "a scan input"));
    const Shape& shape = inputs.back()->type.shape;
    normal_axes.push_back(normalize_axis(axes[index], shape.rank()));
    const std::int64_t own = shape[normal_axes.back()];
    if (length >= 0 && own != length) {
      fail_input(fmt::format("scan inputs of {} and {} steps", length, own));
    }
    length = own;
  }
  std::vector<StackBuilder> collected;
  for (std::size_t index = 0; index < counts.outputs; ++index) {
    collected.emplace_back(length, output_axes[index], output_directions[index] != 0);
  }
  run_steps(
      context, *body, counts, length,
      [&](std::size_t index, std::int64_t step) {
        const std::int64_t position = directions[index] != 0 ? length - 1 - step : step;
        return cut(context, inputs[index]->view(), normal_axes[index], position, 1, false);
      },
      states, collected);

  for (std::size_t index = 0; index < counts.states; ++index) {
    context.set_output(index, std::move(states[index]));
  }
  for (std::size_t index = 0; index < counts.outputs; ++index) {
    const std::size_t output = counts.states + index;
    if (output >= node.outputs.size() || node.outputs[output] == no_value) continue;
    TensorPointer joined = collected[index].finish(context);
    if (joined == nullptr) {
      const auto axis = static_cast<std::size_t>(std::max<std::int64_t>(0, output_axes[index]));
      joined = empty_stack(context, *body, body->outputs[output], axis);
    }
    context.set_output(output, std::move(joined));
  }
}

/// Zeros appended along the first axis up to `length`.
TensorPointer padded(DynamicContext& context, const TensorPointer& tensor, std::int64_t length) {
  if (tensor->type.shape[0] == length) return tensor;
  std::vector<std::int64_t> dimensions = to_vector(tensor->type.shape);
  dimensions[0] = length;
  const auto result = context.allocate({tensor->type.element, Shape(dimensions)});
  const ConstTensorView from = tensor->view();
  std::copy_n(from.data, from.bytes(), result->data());
  std::fill_n(result->data() + from.bytes(), result->view().bytes() - from.bytes(), std::byte{0});
  return result;
}

/// Version 8: inputs are [batch, time, …], each batch runs by itself, for as many steps as the
/// first input says (all where it is omitted). What is beyond is zero.
void execute_scan_batched(DynamicContext& context) {
  const Node& node = context.node();
  const auto body = node.graph("body");
  if (node.inputs.empty()) fail_input("has no inputs");
  const ScanCounts counts(node, *body, node.inputs.size() - 1);
  const auto directions = integers_for(node, "directions", counts.inputs, 0);

  std::vector<TensorPointer> inputs;
  for (std::size_t index = 1; index < node.inputs.size(); ++index) {
    inputs.push_back(owned_tensor(context.input(index), "an input"));
    const bool scanned = index > counts.states;
    if (inputs.back()->type.shape.rank() < (scanned ? 2U : 1U)) {
      fail_input(
          fmt::format("input {} has shape {}: a batch dimension is needed, and a time "
                      "dimension for what is scanned",
                      index, inputs.back()->type.shape.to_string()));
    }
  }
  const Shape& first = inputs[counts.states]->type.shape;
  const std::int64_t batches = first[0];
  const std::int64_t times = first[1];
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const Shape& shape = inputs[index]->type.shape;
    if (shape[0] != batches || (index >= counts.states && shape[1] != times)) {
      fail_input(fmt::format("inputs of shape {} and {} do not match", first.to_string(),
                             shape.to_string()));
    }
  }
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(batches), times);
  if (context.has_input(0)) {
    lengths = read_integers(context.tensor(0));
    if (static_cast<std::int64_t>(lengths.size()) != batches) {
      fail_input(fmt::format("{} sequence lengths for a batch of {}", lengths.size(), batches));
    }
  }
  std::vector<std::vector<TensorPointer>> results(body->outputs.size());
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const std::int64_t length = lengths[static_cast<std::size_t>(batch)];
    if (length < 0 || length > times) {
      fail_input(fmt::format("a sequence length of {} of {}", length, times));
    }
    std::vector<TensorPointer> parts;
    for (const TensorPointer& input : inputs) {
      parts.push_back(cut(context, input->view(), 0, batch, 1, false));
    }
    std::vector<TensorPointer> states(parts.begin(),
                                      parts.begin() + static_cast<std::ptrdiff_t>(counts.states));
    std::vector<StackBuilder> collected(counts.outputs, StackBuilder(length, 0, false));
    run_steps(
        context, *body, counts, length,
        [&](std::size_t index, std::int64_t step) {
          const std::int64_t position = directions[index] != 0 ? length - 1 - step : step;
          return cut(context, parts[counts.states + index]->view(), 0, position, 1, false);
        },
        states, collected);
    for (std::size_t index = 0; index < counts.states; ++index) {
      results[index].push_back(std::move(states[index]));
    }
    for (std::size_t index = 0; index < counts.outputs; ++index) {
      const std::size_t output = counts.states + index;
      TensorPointer joined = collected[index].finish(context);
      if (joined == nullptr) joined = empty_stack(context, *body, body->outputs[output], 0);
      results[output].push_back(padded(context, joined, times));
    }
  }
  for (std::size_t index = 0; index < node.outputs.size(); ++index) {
    if (node.outputs[index] == no_value) continue;
    context.set_output(index, results[index].empty()
                                  ? empty_stack(context, *body, body->outputs[index], 0)
                                  : stack(context, results[index], 0));
  }
}

}  // namespace

void register_scan(OperatorTable& table) {
  table.add({.name = "Scan", .since_version = 8, .execute = execute_scan_batched});
  for (int version : {9, 11, 16, 19, 21}) {
    table.add({.name = "Scan", .since_version = version, .execute = execute_scan});
  }
}

}  // namespace plimsoll::tensor
