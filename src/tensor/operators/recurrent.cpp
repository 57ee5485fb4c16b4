// RNN, and the shapes of all recurrent operators. Semantics: ONNX Operators.md.
//
//   h = f(W·x + R·h + Wb + Rb)
#include "tensor/operators/recurrent.h"

#include "tensor/operators/families.h"

namespace plimsoll::tensor {
namespace {

void require_shape(const InferContext& context, std::size_t index, const Shape& wanted) {
  if (!context.has_input(index)) return;
  check_same_type(context, 0, index);
  if (context.input(index).shape != wanted) {
    fail_input(fmt::format("input {} has shape {}, {} is needed", index,
                           context.input(index).shape.to_string(), wanted.to_string()));
  }
}

Shape state_shape(const RecurrentShape& shape) {
  return shape.batch_first ? Shape{shape.batch, shape.directions, shape.hidden}
                           : Shape{shape.directions, shape.batch, shape.hidden};
}

}  // namespace

RecurrentShape recurrent_shape(const Node& node, const Shape& x, const Shape& r,
                               std::int64_t gates) {
  if (x.rank() != 3 || r.rank() != 3) fail_input("inputs 0 and 2 need three dimensions");
  const std::int64_t layout = node.integer("layout", 0);
  if (layout != 0 && layout != 1) fail_input(fmt::format("layout {} is not 0 or 1", layout));
  const std::string direction = node.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    fail_input(fmt::format("direction '{}' is not forward, reverse or bidirectional", direction));
  }
  RecurrentShape shape;
  shape.batch_first = layout == 1;
  shape.steps = shape.batch_first ? x[1] : x[0];
  shape.batch = shape.batch_first ? x[0] : x[1];
  shape.inputs = x[2];
  shape.hidden = r[2];
  shape.gates = gates;
  shape.directions = direction == "bidirectional" ? 2 : 1;
  shape.first_backwards = direction == "reverse";
  const std::int64_t declared = node.integer("hidden_size", shape.hidden);
  if (declared != shape.hidden || r[0] != shape.directions ||
      r[1] != checked_product(gates, shape.hidden, "hidden size")) {
    fail_input(fmt::format("input 2 of shape {} does not fit hidden_size {} and direction '{}'",
                           r.to_string(), declared, direction));
  }
  return shape;
}

RecurrentShape infer_recurrent(InferContext& context, std::int64_t gates, std::size_t most_inputs) {
  check_input_count(context, 3, most_inputs);
  const TensorType& x = check_type(context, 0, float_types);
  const RecurrentShape shape =
      recurrent_shape(context.node(), x.shape, context.input(2).shape, gates);
  const std::int64_t rows = gates * shape.hidden;
  require_shape(context, 1, {shape.directions, rows, shape.inputs});
  check_same_type(context, 0, 2);
  require_shape(context, 3, {shape.directions, 2 * rows});
  if (context.has_input(4)) {
    check_type(context, 4, TypeSet{ElementType::i32});
    if (context.input(4).shape != Shape{shape.batch}) {
      fail_input(fmt::format("sequence lengths of shape {} do not fit a batch of {}",
                             context.input(4).shape.to_string(), shape.batch));
    }
  }
  require_shape(context, 5, state_shape(shape));
  require_shape(context, 6, state_shape(shape));
  require_shape(context, 7, {shape.directions, 3 * shape.hidden});
  context.set_output(0, x.element,
                     shape.batch_first
                         ? Shape{shape.batch, shape.steps, shape.directions, shape.hidden}
                         : Shape{shape.steps, shape.directions, shape.batch, shape.hidden});
  context.set_output(1, x.element, state_shape(shape));
  if (gates == 4) context.set_output(2, x.element, state_shape(shape));  // the cells of LSTM
  return shape;
}

std::uint64_t recurrent_scratch(const InferContext& context, const RecurrentShape& shape,
                                std::int64_t width, std::int64_t states) {
  const std::size_t bytes = context.input(0).element == ElementType::f64 ? 8 : 4;
  const std::int64_t gates =
      checked_product(checked_product(shape.chunk(), shape.batch, "scratch"), width, "scratch");
  const std::int64_t values =
      checked_product(checked_product(states, shape.batch, "scratch"), shape.hidden, "scratch");
  return checked_bytes(Shape{checked_sum(checked_sum(gates, values, "scratch"), width, "scratch")},
                       bytes, "scratch");
}

std::optional<float> clip_limit(const Node& node) {
  if (node.attribute("clip") == nullptr) return std::nullopt;
  const float limit = node.real("clip", 0);
  if (!(limit >= 0)) fail_input("attribute 'clip' must not be negative");
  return limit;
}

namespace {

RecurrentShape rnn_shape(const Node& node, const Shape& x, const Shape& r) {
  return recurrent_shape(node, x, r, 1);
}

void infer_rnn(InferContext& context) {
  const RecurrentShape shape = infer_recurrent(context, 1, 6);
  (void)recurrent_activations(context.node(), shape.directions, {"Tanh"});
  (void)clip_limit(context.node());
}

std::uint64_t rnn_scratch(const InferContext& context) {
  const RecurrentShape shape =
      rnn_shape(context.node(), context.input(0).shape, context.input(2).shape);
  return recurrent_scratch(context, shape, shape.hidden, 1);
}

void run_rnn(RunContext& context) {
  const RecurrentShape shape =
      rnn_shape(context.node(), context.input(0).shape, context.input(2).shape);
  const std::vector<Activation> activations =
      recurrent_activations(context.node(), shape.directions, {"Tanh"});
  const std::optional<float> clip = clip_limit(context.node());
  const std::int64_t hidden = shape.hidden;
  dispatch(context.input(0).type, FloatTypes{}, [&]<typename T>(Tag<T> /*tag*/) {
    using C = Compute<T>;
    RecurrentRun<T> run(context, shape, hidden);
    run.run(
        [&] {
          const T* bias = run.optional(3, 2 * hidden);
          for (std::int64_t j = 0; j < hidden; ++j) {
            run.bias()[j] = bias == nullptr ? C{0} : load(bias[j]) + load(bias[hidden + j]);
          }
          run.start_state(0, 5);
        },
        [&](std::int64_t step, C* gates) {
          run.add_recurrence(step, 0, hidden, 0, gates, 0);
          const Activation& f = activations[static_cast<std::size_t>(run.direction())];
          run.for_each_active(step, [&](std::int64_t n) {
            C* own = gates + n * hidden;
            clip_values(clip, own, hidden);
            f.apply(own, hidden);
            std::copy_n(own, hidden, run.state(0, n));
          });
        },
        [&] { run.write_state(0, 1); });
  });
}

}  // namespace

void register_recurrent(OperatorTable& table) {
  table.add({.name = "RNN",
             .since_version = 7,
             .infer = infer_rnn,
             .run = run_rnn,
             .scratch = rnn_scratch});
  register_gru(table);
  register_lstm(table);
}

}  // namespace plimsoll::tensor
