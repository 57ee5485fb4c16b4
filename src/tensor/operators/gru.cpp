// GRU. Semantics: ONNX Operators.md; gates in the order z, r, h; activations f = Sigmoid, g = Tanh.
//
//   z = f(Wz·x + Rz·h + bz)     r = f(Wr·x + Rr·h + br)
//   n = g(Wh·x + Rh·(r ⊙ h) + Wbh + Rbh)         linear_before_reset 0
//   n = g(Wh·x + r ⊙ (Rh·h + Rbh) + Wbh)         linear_before_reset 1
//   h = (1 − z) ⊙ n + z ⊙ h
#include "tensor/operators/recurrent.h"

namespace plimsoll::tensor {
namespace {

constexpr std::int64_t gru_gates = 3;

struct GruShape : RecurrentShape {
  bool linear_before_reset = false;

  GruShape(const Node& node, const Shape& x, const Shape& r)
      : RecurrentShape(recurrent_shape(node, x, r, gru_gates)),
        linear_before_reset(node.integer("linear_before_reset", 0) != 0) {}
  /// z, r, h; with linear_before_reset Rh·h + Rbh behind them, else r ⊙ h is a second state.
  [[nodiscard]] std::int64_t width() const { return (linear_before_reset ? 4 : 3) * hidden; }
  [[nodiscard]] std::int64_t states() const { return linear_before_reset ? 1 : 2; }
};

void infer_gru(InferContext& context) {
  const RecurrentShape shape = infer_recurrent(context, gru_gates, 6);
  (void)recurrent_activations(context.node(), shape.directions, {"Sigmoid", "Tanh"});
  (void)clip_limit(context.node());
}

std::uint64_t gru_scratch(const InferContext& context) {
  const GruShape shape(context.node(), context.input(0).shape, context.input(2).shape);
  return recurrent_scratch(context, shape, shape.width(), shape.states());
}

template <typename T>
void set_bias(const RecurrentRun<T>& run, const GruShape& shape) {
  using C = Compute<T>;
  const std::int64_t hidden = shape.hidden;
  const T* bias = run.optional(3, 2 * gru_gates * hidden);
  C* sums = run.bias();
  std::fill_n(sums, shape.width(), C{0});
  if (bias == nullptr) return;
  const T* second = bias + gru_gates * hidden;
  for (std::int64_t j = 0; j < gru_gates * hidden; ++j) {
    const bool apart = shape.linear_before_reset && j >= 2 * hidden;
    sums[j] = load(bias[j]) + (apart ? C{0} : load(second[j]));
    if (apart) sums[j + hidden] = load(second[j]);
  }
}

void run_gru(RunContext& context) {
  const GruShape shape(context.node(), context.input(0).shape, context.input(2).shape);
  const std::vector<Activation> activations =
      recurrent_activations(context.node(), shape.directions, {"Sigmoid", "Tanh"});
  const std::optional<float> clip = clip_limit(context.node());
  const std::int64_t hidden = shape.hidden;
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using C = Compute<T>;
    RecurrentRun<T> run(context, shape, shape.width());
    const auto step_body = [&](std::int64_t step, C* gates) {
      const auto first = static_cast<std::size_t>(run.direction() * 2);
      const Activation& f = activations[first];
      const Activation& g = activations[first + 1];
      run.add_recurrence(step, 0, 2 * hidden, 0, gates, 0);
      if (shape.linear_before_reset) {
        run.add_recurrence(step, 2 * hidden, hidden, 0, gates, 3 * hidden);
      }
      run.for_each_active(step, [&](std::int64_t n) {
        C* z = gates + n * shape.width();
        const C* r = z + hidden;
        C* candidate = z + 2 * hidden;
        clip_values(clip, z, 2 * hidden);
        f.apply(z, 2 * hidden);
        if (shape.linear_before_reset) {
          const C* recurrent = z + 3 * hidden;
          for (std::int64_t j = 0; j < hidden; ++j) candidate[j] += r[j] * recurrent[j];
        } else {
          const C* h = run.state(0, n);
          C* reset = run.state(1, n);
          for (std::int64_t j = 0; j < hidden; ++j) reset[j] = r[j] * h[j];
        }
      });
      if (!shape.linear_before_reset) {
        run.add_recurrence(step, 2 * hidden, hidden, 1, gates, 2 * hidden);
      }
      run.for_each_active(step, [&](std::int64_t n) {
        const C* z = gates + n * shape.width();
        C* candidate = gates + n * shape.width() + 2 * hidden;
        C* h = run.state(0, n);
        clip_values(clip, candidate, hidden);
        g.apply(candidate, hidden);
        for (std::int64_t j = 0; j < hidden; ++j) {
          h[j] = (C{1} - z[j]) * candidate[j] + z[j] * h[j];
        }
      });
    };
    run.run(
        [&] {
          set_bias(run, shape);
          run.start_state(0, 5);
        },
        step_body, [&] { run.write_state(0, 1); });
  });
}

}  // namespace

void register_gru(OperatorTable& table) {
  table.add({.name = "GRU",
             .since_version = 7,
             .infer = infer_gru,
             .run = run_gru,
             .scratch = gru_scratch});
}

}  // namespace plimsoll::tensor
