#include "tensor/operators/random_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tensor/operators/checks.h"
#include "tensor/operators/random.h"

namespace plimsoll::tensor {
namespace {

template <bool like>
void infer_random(InferContext& context) {
  const Node& node = context.node();
  check_input_count(context, like ? 1 : 0, like ? 1 : 0);
  ElementType type = ElementType::f32;
  if constexpr (like) {
    // Without `dtype` the input's type, where a random number can have it.
    if (float_types.contains(context.input(0).element)) type = context.input(0).element;
  }
  type = element_attribute(node, "dtype", type);
  if (!float_types.contains(type)) {
    fail_input(
        fmt::format("attribute 'dtype' asks for random numbers of type {}", element_name(type)));
  }
  context.set_output(0, type, like ? context.input(0).shape : Shape(node.integers("shape")));
}

/// Fills the output with draws of `next`, a function without arguments.
template <typename F>
void fill_random(RunContext& context, F next) {
  const TensorView output = context.output(0);
  dispatch(output.type, FloatTypes{}, [&]<typename T>(Tag<T>) {
    for (T& element : output.span<T>()) element = store<T>(next());
  });
}

void run_normal(RunContext& context) {
  const Node& node = context.node();
  RandomGenerator generator(random_seed(node));
  const double mean = node.real("mean", 0.0F);
  const double scale = node.real("scale", 1.0F);
  fill_random(context, [&] { return mean + scale * generator.normal(); });
}

void run_uniform(RunContext& context) {
  const Node& node = context.node();
  RandomGenerator generator(random_seed(node));
  const double low = node.real("low", 0.0F);
  const double high = node.real("high", 1.0F);
  fill_random(context, [&] { return low + (high - low) * generator.uniform(); });
}

void infer_bernoulli(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, float_types);
  const ElementType element = element_attribute(context.node(), "dtype", type.element);
  if (!all_types.contains(element)) {
    fail_unsupported(fmt::format("elements of type {}", element_name(element)));
  }
  context.set_output(0, element, type.shape);
}

/// 1 with the probability that the input gives, else 0.
void run_bernoulli(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  RandomGenerator generator(random_seed(context.node()));
  dispatch(input.type, FloatTypes{}, [&]<typename P>(Tag<P>) {
    dispatch(output.type, AllTypes{}, [&]<typename T>(Tag<T>) {
      for (std::int64_t i = 0; i < input.elements(); ++i) {
        const bool drawn = generator.uniform() < static_cast<double>(load(input.as<P>()[i]));
        if constexpr (std::is_same_v<T, Boolean>) {
          output.as<T>()[i] = {static_cast<std::uint8_t>(drawn)};
        } else {
          output.as<T>()[i] = store<T>(drawn ? 1.0F : 0.0F);
        }
      }
    });
  });
}

void infer_multinomial(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = check_type(context, 0, float_types);
  check_rank(context, 0, 2, 2);
  const std::int64_t samples = context.node().integer("sample_size", 1);
  const ElementType element = element_attribute(context.node(), "dtype", ElementType::i32);
  if (!index_types.contains(element)) fail_input("attribute 'dtype' must be int32 or int64");
  if (type.shape[1] == 0) fail_input("there is no class to draw");
  context.set_output(0, element, Shape{type.shape[0], samples});
}

/// Draws classes; the input holds unnormalised log-probabilities.
void run_multinomial(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  const std::int64_t classes = input.shape[1];
  const std::int64_t samples = output.shape[1];
  RandomGenerator generator(random_seed(context.node()));
  dispatch(input.type, FloatTypes{}, [&]<typename P>(Tag<P>) {
    for (std::int64_t row = 0; row < input.shape[0]; ++row) {
      const P* logits = input.as<P>() + row * classes;
      double largest = -INFINITY;
      for (std::int64_t i = 0; i < classes; ++i) {
        largest = std::max(largest, static_cast<double>(load(logits[i])));
      }
      const auto weight = [&](std::int64_t i) {
        return std::exp(static_cast<double>(load(logits[i])) - largest);
      };
      double total = 0;
      for (std::int64_t i = 0; i < classes; ++i) total += weight(i);
      for (std::int64_t sample = 0; sample < samples; ++sample) {
        double rest = generator.uniform() * total;
        std::int64_t drawn = 0;
        while (drawn + 1 < classes && (rest -= weight(drawn)) >= 0) ++drawn;
        const std::int64_t place = row * samples + sample;
        if (output.type == ElementType::i64) {
          output.as<std::int64_t>()[place] = drawn;
        } else {
          output.as<std::int32_t>()[place] = static_cast<std::int32_t>(drawn);
        }
      }
    }
  });
}

}  // namespace

void register_random_operators(OperatorTable& table) {
  table.add({.name = "RandomNormal", .infer = infer_random<false>, .run = run_normal});
  table.add({.name = "RandomUniform", .infer = infer_random<false>, .run = run_uniform});
  table.add({.name = "RandomNormalLike", .infer = infer_random<true>, .run = run_normal});
  table.add({.name = "RandomUniformLike", .infer = infer_random<true>, .run = run_uniform});
  table.add(
      {.name = "Bernoulli", .since_version = 15, .infer = infer_bernoulli, .run = run_bernoulli});
  table.add({.name = "Multinomial",
             .since_version = 7,
             .infer = infer_multinomial,
             .run = run_multinomial});
}

}  // namespace plimsoll::tensor
