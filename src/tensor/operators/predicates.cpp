// Elementwise operators that answer with booleans: IsNaN, IsInf, Not.
#include <cmath>

#include "tensor/operators/elementwise_unary.h"

namespace plimsoll::tensor {
namespace {

struct IsNaN {
  template <typename C>
  Boolean operator()(C x) const {
    return {static_cast<std::uint8_t>(x != x)};
  }
};

struct IsInf {
  explicit IsInf(const Node& node)
      : positive(node.integer("detect_positive", 1) != 0),
        negative(node.integer("detect_negative", 1) != 0) {}
  template <typename C>
  Boolean operator()(C x) const {
    const bool found = (positive && x == C(INFINITY)) || (negative && x == C(-INFINITY));
    return {static_cast<std::uint8_t>(found)};
  }
  bool positive;
  bool negative;
};

template <typename Op>
void infer_predicate(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, float_types);
  static_cast<void>(make_functor<Op>(context.node()));
  context.set_output(0, ElementType::boolean, type.shape);
}

template <typename Op>
void run_predicate(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const Op op = make_functor<Op>(context.node());
  dispatch(input.type, FloatTypes{}, [&]<typename T>(Tag<T>) {
    map_elements(context.threads(), input.as<T>(), output.as<Boolean>(), input.elements(), op);
  });
}

struct Not {
  Boolean operator()(Boolean x) const { return {static_cast<std::uint8_t>(x.byte == 0)}; }
};

}  // namespace

void register_predicates(OperatorTable& table) {
  for (int version : {9, 13, 20}) {
    table.add({.name = "IsNaN",
               .since_version = version,
               .infer = infer_predicate<IsNaN>,
               .run = run_predicate<IsNaN>});
  }
  for (int version : {10, 20}) {
    table.add({.name = "IsInf",
               .since_version = version,
               .infer = infer_predicate<IsInf>,
               .run = run_predicate<IsInf>});
  }
  add_unary<Not, Types<Boolean>>(table, "Not", {1});
}

}  // namespace plimsoll::tensor
