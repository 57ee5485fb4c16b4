// Dropout. In inference the data pass; in training mode (version 12 and later, asked for by an
// input) elements are dropped by the generator of the standard's reference implementation, so that
// a given seed gives the same mask.
#include <cmath>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/dispatch.h"
#include "tensor/operators/random.h"
#include "tensor/operators/shaping.h"
#include "tensor/operators/strided_copy.h"

namespace plimsoll::tensor {
namespace {

/// The mask became boolean in version 10; before it has the data's type.
ElementType mask_type(const Node& node, ElementType data) {
  return node.opset >= 10 ? ElementType::boolean : data;
}

void infer_dropout(InferContext& context) {
  const Node& node = context.node();
  check_input_count(context, 1, node.opset >= 12 ? 3 : 1);
  const TensorType& type = check_type(context, 0, float_types);
  if (node.opset < 7 && node.integer("is_test", 0) == 0) {
    fail_unsupported(
        "attribute 'is_test' is 0: dropping elements in training is supported from "
        "opset 12");
  }
  if (node.opset >= 12 && context.has_input(1)) {
    check_type(context, 1, float_types);
    check_scalar(context, 1);
  }
  if (node.opset >= 12 && context.has_input(2)) {
    check_type(context, 2, boolean_type);
    check_scalar(context, 2);
  }
  infer_same(context);
  context.set_output(1, mask_type(node, type.element), type.shape);
}

void pass(RunContext& context) {
  const ConstTensorView input = context.input(0);
  copy_bytes(context.threads(), input.data, context.output(0).data, input.bytes());
  if (!context.has_output(1)) return;
  const TensorView mask = context.output(1);
  dispatch(mask.type, AllTypes{}, [&]<typename T>(Tag<T>) {
    if constexpr (std::is_same_v<T, Boolean>) {
      std::ranges::fill(mask.span<std::uint8_t>(), std::uint8_t{1});
    } else {
      std::ranges::fill(mask.span<T>(), store<T>(1.0F));
    }
  });
}

void drop(RunContext& context, float ratio) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  std::uint8_t* mask = context.has_output(1) ? context.output(1).as<std::uint8_t>() : nullptr;
  RandomGenerator generator(random_seed(context.node()));
  dispatch(input.type, FloatTypes{}, [&]<typename T>(Tag<T>) {
    using C = Compute<T>;
    const T* from = input.as<T>();
    T* to = output.as<T>();
    // A ratio of 1 drops everything: no scale brings the mean back.
    const C scale = ratio < 1.0F ? C{1} / (C{1} - static_cast<C>(ratio)) : C{0};
    for (std::int64_t i = 0; i < input.elements(); ++i) {
      const bool kept = generator.uniform() >= static_cast<double>(ratio);
      to[i] = store<T>(kept ? load(from[i]) * scale : C{0});
      if (mask != nullptr) mask[i] = static_cast<std::uint8_t>(kept);
    }
  });
}

void run_dropout(RunContext& context) {
  if (context.node().opset >= 12 && context.has_input(2) && read_boolean(context.input(2))) {
    const float ratio = context.has_input(1) ? read_floats(context.input(1))[0] : 0.5F;
    if (!(ratio >= 0.0F && ratio <= 1.0F)) fail_input("the ratio of Dropout must be in 0 to 1");
    if (ratio > 0.0F) return drop(context, ratio);
  }
  pass(context);
}

}  // namespace

void register_dropout(OperatorTable& table) {
  for (int version : {1, 6, 7, 10, 12, 13}) {
    table.add({.name = "Dropout",
               .since_version = version,
               .infer = infer_dropout,
               .run = run_dropout,
               .in_place_input = 0});
  }
}

}  // namespace plimsoll::tensor
