// Loop: runs its body while a condition holds, at most a number of times.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tensor/operators/checks.h"
#include "tensor/operators/sequences.h"

namespace plimsoll::tensor {
namespace {

/// Trip counts beyond are taken for "until the body says so".
constexpr std::int64_t longest_count = 1 << 20;

/// body(iteration, condition, carried…) → (condition, carried…, scan outputs…)
void execute_loop(DynamicContext& context) {
  const Node& node = context.node();
  const auto body = node.graph("body");
  const std::size_t carried_count = node.inputs.size() < 2 ? 0 : node.inputs.size() - 2;
  if (body->inputs.size() != carried_count + 2 || body->outputs.size() < carried_count + 1 ||
      node.outputs.size() > body->outputs.size() - 1) {
    fail_input(
        fmt::format("a body with {} inputs and {} outputs does not match {} carried values "
                    "and {} outputs",
                    body->inputs.size(), body->outputs.size(), carried_count, node.outputs.size()));
  }
  const std::size_t scan_count = body->outputs.size() - 1 - carried_count;

  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  if (context.has_input(0)) {
    const std::vector<std::int64_t> count = read_integers(context.tensor(0));
    if (count.size() != 1) fail_input("the trip count must be one integer");
    limit = count[0];
  }
  bool running = !context.has_input(1) || read_boolean(context.tensor(1));
  DynamicValue condition =
      context.has_input(1) ? context.input(1) : DynamicValue(make_boolean(context, true));
  std::vector<DynamicValue> carried;
  for (std::size_t index = 0; index < carried_count; ++index) {
    carried.push_back(context.input(index + 2));
  }
  // A loop without a condition runs to its count, unless that only stands for "without end".
  const bool counted = context.has_input(0) && !context.has_input(1) && limit <= longest_count;
  const std::int64_t expected = counted ? std::max<std::int64_t>(limit, 0) : StackBuilder::unknown;
  std::vector<StackBuilder> scans(scan_count, StackBuilder(expected, 0, false));

  for (std::int64_t iteration = 0; iteration < limit && running; ++iteration) {
    std::vector<DynamicValue> arguments;
    arguments.emplace_back(make_integer(context, iteration));
    arguments.push_back(std::move(condition));
    for (DynamicValue& value : carried) arguments.push_back(std::move(value));
    std::vector<DynamicValue> results = context.run_subgraph(*body, std::move(arguments));
    condition = std::move(results.at(0));
    running = read_boolean(owned_tensor(condition, "the body's condition")->view());
    for (std::size_t index = 0; index < carried_count; ++index) {
      carried[index] = std::move(results.at(index + 1));
    }
    for (std::size_t index = 0; index < scan_count; ++index) {
      scans[index].add(
          context, owned_tensor(std::move(results.at(index + 1 + carried_count)), "a scan output"));
    }
  }

  for (std::size_t index = 0; index < carried_count; ++index) {
    context.set_output(index, std::move(carried[index]));
  }
  for (std::size_t index = 0; index < scan_count; ++index) {
    const std::size_t output = carried_count + index;
    if (output >= node.outputs.size() || node.outputs[output] == no_value) continue;
    TensorPointer joined = scans[index].finish(context);
    if (joined == nullptr) joined = empty_stack(context, *body, body->outputs[output + 1], 0);
    context.set_output(output, std::move(joined));
  }
}

}  // namespace

void register_loop(OperatorTable& table) {
  for (int version : {1, 11, 13, 16, 19, 21}) {
    table.add({.name = "Loop", .since_version = version, .execute = execute_loop});
  }
}

}  // namespace plimsoll::tensor
