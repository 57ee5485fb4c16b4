// LSTM. Semantics: ONNX Operators.md: gates i, o, f, c; activations sigmoid, tanh, tanh by default.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/operators/checks.h"
#include "tensor/operators/families.h"

namespace plimsoll::tensor {
namespace {

struct LstmShape {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t inputs = 0;
  std::int64_t hidden = 0;
  std::int64_t directions = 1;
};

LstmShape lstm_shape(const Node& node, const Shape& x, const Shape& r) {
  if (x.rank() != 3 || r.rank() != 3) fail_input("inputs 0 and 2 need three dimensions");
  if (node.integer("layout", 0) != 0) fail_unsupported("LSTM with layout 1 is not supported");
  if (!node.reals("activation_alpha").empty() || !node.reals("activation_beta").empty()) {
    fail_unsupported("LSTM with activation parameters is not supported");
  }
  const auto* activations = node.attribute("activations");
  if (activations != nullptr) {
    const auto* names = std::get_if<std::vector<std::string>>(activations);
    for (std::size_t index = 0; names != nullptr && index < names->size(); ++index) {
      if ((*names)[index] != (index % 3 == 0 ? "Sigmoid" : "Tanh")) {
        fail_unsupported("LSTM with activations other than Sigmoid, Tanh, Tanh is not supported");
      }
    }
  }
  if (node.attribute("clip") != nullptr) fail_unsupported("LSTM with clip is not supported");
  if (node.integer("input_forget", 0) != 0) {
    fail_unsupported("LSTM with input_forget is not supported");
  }
  const std::string direction = node.text("direction", "forward");
  LstmShape shape{x[0], x[1], x[2], r[2], direction == "bidirectional" ? 2 : 1};
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    fail_input(fmt::format("direction '{}' is not known", direction));
  }
  const std::int64_t declared = node.integer("hidden_size", shape.hidden);
  if (declared != shape.hidden || r[0] != shape.directions || r[1] != 4 * shape.hidden) {
    fail_input(fmt::format("the recurrence weight of shape {} does not fit hidden_size {}",
                           r.to_string(), declared));
  }
  return shape;
}

void infer_lstm(InferContext& context) {
  check_input_count(context, 3, 8);
  const TensorType& x = check_type(context, 0, TypeSet{ElementType::f32});
  const LstmShape shape = lstm_shape(context.node(), x.shape, context.input(2).shape);
  const auto require = [&](std::size_t index, const Shape& wanted) {
    if (!context.has_input(index)) return;
    check_same_type(context, 0, index);
    if (context.input(index).shape != wanted) {
      fail_input(fmt::format("input {} has shape {}, {} is needed", index,
                             context.input(index).shape.to_string(), wanted.to_string()));
    }
  };
  require(1, {shape.directions, 4 * shape.hidden, shape.inputs});
  require(3, {shape.directions, 8 * shape.hidden});
  require(5, {shape.directions, shape.batch, shape.hidden});
  require(6, {shape.directions, shape.batch, shape.hidden});
  require(7, {shape.directions, 3 * shape.hidden});
  if (context.has_input(4)) fail_unsupported("LSTM with sequence_lens is not supported");
  context.set_output(0, x.element, {shape.steps, shape.directions, shape.batch, shape.hidden});
  context.set_output(1, x.element, {shape.directions, shape.batch, shape.hidden});
  context.set_output(2, x.element, {shape.directions, shape.batch, shape.hidden});
}

std::uint64_t lstm_scratch(const InferContext& context) {
  const LstmShape shape =
      lstm_shape(context.node(), context.input(0).shape, context.input(2).shape);
  // The gates of one step, and the state h and c of one batch item.
  return static_cast<std::uint64_t>(6 * shape.hidden) * sizeof(float);
}

float sigmoid(float x) {
  return 1.0F / (1.0F + std::exp(-x));
}

float dot(const float* a, const float* b, std::int64_t count) {
  // Eight sums at a time, so that the compiler may use vectors without reordering.
  float sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  float total =
      ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

void run_lstm(RunContext& context) {
  const LstmShape shape =
      lstm_shape(context.node(), context.input(0).shape, context.input(2).shape);
  const std::int64_t hidden = shape.hidden;
  const auto optional = [&](std::size_t index) {
    return context.has_input(index) ? context.input(index).as<float>() : nullptr;
  };
  const float* x = context.input(0).as<float>();
  const float* bias = optional(3);
  const float* peephole = optional(7);
  float* all = context.has_output(0) ? context.output(0).as<float>() : nullptr;
  float* last_h = context.has_output(1) ? context.output(1).as<float>() : nullptr;
  float* last_c = context.has_output(2) ? context.output(2).as<float>() : nullptr;
  float* gates = reinterpret_cast<float*>(context.scratch().data());
  float* h = gates + 4 * hidden;
  float* c = h + hidden;
  const bool reverse = context.node().text("direction", "forward") == "reverse";
  const std::size_t state_bytes = static_cast<std::size_t>(hidden) * sizeof(float);
  for (std::int64_t direction = 0; direction < shape.directions; ++direction) {
    const float* w = context.input(1).as<float>() + direction * 4 * hidden * shape.inputs;
    const float* r = context.input(2).as<float>() + direction * 4 * hidden * hidden;
    const float* b = bias == nullptr ? nullptr : bias + direction * 8 * hidden;
    const float* p = peephole == nullptr ? nullptr : peephole + direction * 3 * hidden;
    for (std::int64_t n = 0; n < shape.batch; ++n) {
      const std::int64_t state = (direction * shape.batch + n) * hidden;
      const auto start = [&](float* to, const float* from) {
        if (from == nullptr) {
          std::memset(to, 0, state_bytes);
        } else {
          std::memcpy(to, from + state, state_bytes);
        }
      };
      start(h, optional(5));
      start(c, optional(6));
      for (std::int64_t step = 0; step < shape.steps; ++step) {
        const bool backwards = reverse || direction == 1;
        const std::int64_t t = backwards ? shape.steps - 1 - step : step;
        const float* input = x + (t * shape.batch + n) * shape.inputs;
        context.threads().parallel_for(
            4 * hidden, 64, [&](std::int64_t begin, std::int64_t end, int) {
              for (std::int64_t gate = begin; gate < end; ++gate) {
                gates[gate] = (b == nullptr ? 0 : b[gate] + b[4 * hidden + gate]) +
                              dot(w + gate * shape.inputs, input, shape.inputs) +
                              dot(r + gate * hidden, h, hidden);
              }
            });
        for (std::int64_t j = 0; j < hidden; ++j) {
          const float in = sigmoid(gates[j] + (p == nullptr ? 0 : p[j] * c[j]));
          const float forget =
              sigmoid(gates[2 * hidden + j] + (p == nullptr ? 0 : p[2 * hidden + j] * c[j]));
          c[j] = forget * c[j] + in * std::tanh(gates[3 * hidden + j]);
          const float out = sigmoid(gates[hidden + j] + (p == nullptr ? 0 : p[hidden + j] * c[j]));
          h[j] = out * std::tanh(c[j]);
        }
        if (all != nullptr) {
          std::memcpy(all + ((t * shape.directions + direction) * shape.batch + n) * hidden, h,
                      state_bytes);
        }
      }
      if (last_h != nullptr) std::memcpy(last_h + state, h, state_bytes);
      if (last_c != nullptr) std::memcpy(last_c + state, c, state_bytes);
    }
  }
}

}  // namespace

void register_recurrent(OperatorTable& table) {
  table.add({.name = "LSTM", .infer = infer_lstm, .run = run_lstm, .scratch = lstm_scratch});
}

}  // namespace plimsoll::tensor
