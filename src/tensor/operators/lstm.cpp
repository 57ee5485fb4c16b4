// LSTM. Semantics: ONNX Operators.md; gates in the order i, o, f, c; peepholes i, o, f;
// activations f = Sigmoid, g = Tanh, h = Tanh.
//
//   i = f(Wi·x + Ri·h + Pi ⊙ c + bi)      f = f(Wf·x + Rf·h + Pf ⊙ c + bf), or 1 − i
//   c = f ⊙ c + i ⊙ g(Wc·x + Rc·h + bc)
//   o = f(Wo·x + Ro·h + Po ⊙ c + bo)      h = o ⊙ h(c)
#include "tensor/operators/recurrent.h"

namespace plimsoll::tensor {
namespace {

constexpr std::int64_t lstm_gates = 4;

void infer_lstm(InferContext& context) {
  const RecurrentShape shape = infer_recurrent(context, lstm_gates, 8);
  (void)recurrent_activations(context.node(), shape.directions, {"Sigmoid", "Tanh", "Tanh"});
  (void)clip_limit(context.node());
}

std::uint64_t lstm_scratch(const InferContext& context) {
  const RecurrentShape shape =
      recurrent_shape(context.node(), context.input(0).shape, context.input(2).shape, lstm_gates);
  return recurrent_scratch(context, shape, lstm_gates * shape.hidden, 2);
}

/// gate += peephole ⊙ cell
template <typename T, typename C>
void add_peephole(const T* peephole, const C* cell, std::int64_t hidden, C* gate) {
  if (peephole == nullptr) return;
  for (std::int64_t j = 0; j < hidden; ++j) gate[j] += load(peephole[j]) * cell[j];
}

void run_lstm(RunContext& context) {
  const RecurrentShape shape =
      recurrent_shape(context.node(), context.input(0).shape, context.input(2).shape, lstm_gates);
  const std::vector<Activation> activations =
      recurrent_activations(context.node(), shape.directions, {"Sigmoid", "Tanh", "Tanh"});
  const std::optional<float> clip = clip_limit(context.node());
  const bool coupled = context.node().integer("input_forget", 0) != 0;
  const std::int64_t hidden = shape.hidden;
  const std::int64_t width = lstm_gates * hidden;
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using C = Compute<T>;
    RecurrentRun<T> run(context, shape, width);
    const auto prepare = [&] {
      const T* bias = run.optional(3, 2 * width);
      for (std::int64_t j = 0; j < width; ++j) {
        run.bias()[j] = bias == nullptr ? C{0} : load(bias[j]) + load(bias[width + j]);
      }
      run.start_state(0, 5);
      run.start_state(1, 6);
    };
    const auto step_body = [&](std::int64_t step, C* gates) {
      run.add_recurrence(step, 0, width, 0, gates, 0);
      const auto first = static_cast<std::size_t>(run.direction() * 3);
      const T* peephole = run.optional(7, 3 * hidden);
      const T* peephole_out = peephole == nullptr ? nullptr : peephole + hidden;
      const T* peephole_forget = peephole == nullptr ? nullptr : peephole + 2 * hidden;
      run.for_each_active(step, [&](std::int64_t n) {
        C* in = gates + n * width;
        C* out = in + hidden;
        C* forget = out + hidden;
        C* candidate = forget + hidden;
        C* h = run.state(0, n);
        C* c = run.state(1, n);
        add_peephole(peephole, c, hidden, in);
        add_peephole(peephole_forget, c, hidden, forget);
        clip_values(clip, in, hidden);
        clip_values(clip, forget, 2 * hidden);
        activations[first].apply(in, hidden);
        activations[first].apply(forget, hidden);
        activations[first + 1].apply(candidate, hidden);
        for (std::int64_t j = 0; j < hidden; ++j) {
          c[j] = (coupled ? C{1} - in[j] : forget[j]) * c[j] + in[j] * candidate[j];
        }
        add_peephole(peephole_out, c, hidden, out);
        clip_values(clip, out, hidden);
        activations[first].apply(out, hidden);
        std::copy_n(c, hidden, h);
        activations[first + 2].apply(h, hidden);
        for (std::int64_t j = 0; j < hidden; ++j) h[j] *= out[j];
      });
    };
    run.run(prepare, step_body, [&] {
      run.write_state(0, 1);
      run.write_state(1, 2);
    });
  });
}

}  // namespace

void register_lstm(OperatorTable& table) {
  table.add({.name = "LSTM",
             .since_version = 7,
             .infer = infer_lstm,
             .run = run_lstm,
             .scratch = lstm_scratch});
}

}  // namespace plimsoll::tensor
