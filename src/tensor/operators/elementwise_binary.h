// Registration of two-operand operators. Why it exists: arithmetic, comparison and logic are
// separate files that share this. May touch: elementwise.h, checks.h.
#pragma once

#include <initializer_list>
#include <string_view>

#include "tensor/operators/checks.h"
#include "tensor/operators/elementwise.h"
#include "tensor/operators/elementwise_unary.h"

namespace plimsoll::tensor {

void register_arithmetic(OperatorTable& table);
void register_comparisons(OperatorTable& table);
void register_bitwise(OperatorTable& table);
void register_variadic(OperatorTable& table);
void register_power(OperatorTable& table);

/// The output's shape; with the opset < 7 rules where the node asks for them.
[[nodiscard]] inline Shape pair_shape(const Node& node, const Shape& a, const Shape& b) {
  return broadcast_shape(a, second_operand_shape(node, a, b));
}

/// Both operands of one type of the list; the result of type `Result`, or the operands' where that
/// is void.
template <typename List, typename Result>
void infer_binary(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& a = check_type(context, 0, set_of(List{}));
  check_same_type(context, 0, 1);
  const Shape shape = pair_shape(context.node(), a.shape, context.input(1).shape);
  if constexpr (std::is_void_v<Result>) {
    context.set_output(0, a.element, shape);
  } else {
    context.set_output(0, element_of<Result>, shape);
  }
}

template <typename Op, typename List, typename Result>
void run_binary(RunContext& context) {
  const ConstTensorView a = context.input(0);
  const ConstTensorView b = context.input(1);
  const TensorView output = context.output(0);
  const Shape b_shape = second_operand_shape(context.node(), a.shape, b.shape);
  const Op op = make_functor<Op>(context.node());
  dispatch(a.type, List{}, [&]<typename T>(Tag<T>) {
    using R = std::conditional_t<std::is_void_v<Result>, T, Result>;
    map_pairs(context.threads(), a.as<T>(), a.shape, b.as<T>(), b_shape, output.as<R>(),
              output.shape, op);
  });
}

template <typename Op, typename List, typename Result = void>
void add_binary(OperatorTable& table, std::string_view name, std::initializer_list<int> versions) {
  for (int version : versions) {
    table.add({.name = name,
               .since_version = version,
               .infer = infer_binary<List, Result>,
               .run = run_binary<Op, List, Result>,
               .in_place_input = 0});
  }
}

}  // namespace plimsoll::tensor
