// Registration of one-operand operators. Why it exists: arithmetic, activations and predicates are
// separate files that share this. May touch: elementwise.h, checks.h.
#pragma once

#include <initializer_list>
#include <type_traits>

#include "tensor/operators/checks.h"
#include "tensor/operators/elementwise.h"

namespace plimsoll::tensor {

void register_unary_math(OperatorTable& table);
void register_activations(OperatorTable& table);
void register_predicates(OperatorTable& table);

template <typename Op>
Op make_functor(const Node& node) {
  if constexpr (std::is_constructible_v<Op, const Node&>) {
    return Op(node);
  } else {
    return Op{};
  }
}

template <typename Op, typename List>
void infer_unary(InferContext& context) {
  check_input_count(context, 1, 1);
  check_type(context, 0, set_of(List{}));
  static_cast<void>(make_functor<Op>(context.node()));  // faulty attributes show now, not at run
  infer_same(context);
}

template <typename Op, typename List>
void run_unary(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const Op op = make_functor<Op>(context.node());
  dispatch(input.type, List{}, [&]<typename T>(Tag<T>) {
    map_elements(context.threads(), input.as<T>(), output.as<T>(), input.elements(), op);
  });
}

/// Op: a functor, made from the node where it has attributes. List: the element types it takes.
template <typename Op, typename List>
void add_unary(OperatorTable& table, std::string_view name, std::initializer_list<int> versions) {
  for (int version : versions) {
    table.add({.name = name,
               .since_version = version,
               .infer = infer_unary<Op, List>,
               .run = run_unary<Op, List>,
               .in_place_input = 0});
  }
}

}  // namespace plimsoll::tensor
