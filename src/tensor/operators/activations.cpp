// Activation functions, Clip and Shrink.
#include <cmath>
#include <limits>

#include "tensor/operators/elementwise_unary.h"
#include "tensor/operators/vector_math.h"

namespace plimsoll::tensor {
namespace {

namespace vm = vector_math;

struct Relu {
  template <typename C>
  C operator()(C x) const {
    return x < C{0} ? C{0} : x;
  }
};
struct LeakyRelu {
  explicit LeakyRelu(const Node& node) : alpha(node.real("alpha", 0.01F)) {}
  template <typename C>
  C operator()(C x) const {
    return x < C{0} ? static_cast<C>(alpha) * x : x;
  }
  float alpha;
};
struct ThresholdedRelu {
  explicit ThresholdedRelu(const Node& node) : alpha(node.real("alpha", 1.0F)) {}
  template <typename C>
  C operator()(C x) const {
    return x > static_cast<C>(alpha) ? x : C{0};
  }
  float alpha;
};
struct Sigmoid {
  template <typename C>
  C operator()(C x) const {
    return vm::sigmoid(x);
  }
};
struct HardSigmoid {
  explicit HardSigmoid(const Node& node)
      : alpha(node.real("alpha", 0.2F)), beta(node.real("beta", 0.5F)) {}
  template <typename C>
  C operator()(C x) const {
    C y = static_cast<C>(alpha) * x + static_cast<C>(beta);
    y = C{0} > y ? C{0} : y;
    return C{1} < y ? C{1} : y;
  }
  float alpha;
  float beta;
};
struct HardSwish {
  template <typename C>
  C operator()(C x) const {
    C y = x * (C{1} / C{6}) + C{0.5};
    y = C{0} > y ? C{0} : y;
    return x * (C{1} < y ? C{1} : y);
  }
};
/// α (e^x − 1) below zero. expm1 and not e^x − 1: near zero the difference would cancel.
struct Elu {
  explicit Elu(const Node& node) : alpha(node.real("alpha", 1.0F)) {}
  template <typename C>
  C operator()(C x) const {
    return x < C{0} ? static_cast<C>(alpha) * std::expm1(x) : x;
  }
  float alpha;
};
struct Selu {
  // The defaults of version 6; version 1 had 1.6732 and 1.0507.
  explicit Selu(const Node& node)
      : alpha(node.real("alpha", node.opset < 6 ? 1.6732F : 1.67326319217681884765625F)),
        gamma(node.real("gamma", node.opset < 6 ? 1.0507F : 1.05070102214813232421875F)) {}
  template <typename C>
  C operator()(C x) const {
    const C y = x > C{0} ? x : static_cast<C>(alpha) * std::expm1(x);
    return static_cast<C>(gamma) * y;
  }
  float alpha;
  float gamma;
};
struct Celu {
  explicit Celu(const Node& node) : alpha(node.real("alpha", 1.0F)) {}
  template <typename C>
  C operator()(C x) const {
    const C a = static_cast<C>(alpha);
    return x < C{0} ? a * std::expm1(x / a) : x;
  }
  float alpha;
};
/// ln(1 + e^x), written so that neither side overflows.
template <typename C>
C softplus(C x) {
  return (x > C{0} ? x : C{0}) + std::log1p(vm::exp(-std::fabs(x)));
}
struct Softplus {
  template <typename C>
  C operator()(C x) const {
    return x == x ? softplus(x) : x;
  }
};
struct Softsign {
  template <typename C>
  C operator()(C x) const {
    return x / (C{1} + std::fabs(x));
  }
};
struct Mish {
  template <typename C>
  C operator()(C x) const {
    return x * vm::tanh(softplus(x));
  }
};
struct Swish {
  explicit Swish(const Node& node) : alpha(node.real("alpha", 1.0F)) {}
  template <typename C>
  C operator()(C x) const {
    return x * vm::sigmoid(static_cast<C>(alpha) * x);
  }
  float alpha;
};

/// x · Φ(x) (Hendrycks and Gimpel 2016), or its tanh approximation.
struct Gelu {
  explicit Gelu(const Node& node) {
    const std::string form = node.text("approximate", "none");
    if (form != "none" && form != "tanh") {
      fail_input("attribute 'approximate' must be 'none' or 'tanh', not '" + form + "'");
    }
    approximate = form == "tanh";
  }
  template <typename C>
  C operator()(C x) const {
    if (approximate) {
      const C inner = C(0.7978845608028654) * (x + C(0.044715) * x * x * x);
      return C{0.5} * x * (C{1} + vm::tanh(inner));
    }
    return C{0.5} * x * (C{1} + vm::erf(x * C(0.7071067811865476)));
  }
  bool approximate = false;
};

struct Shrink {
  explicit Shrink(const Node& node)
      : bias(node.real("bias", 0.0F)), lambda(node.real("lambd", 0.5F)) {}
  template <typename C>
  C operator()(C x) const {
    // Integers are compared and shifted as f64, which holds the attributes exactly.
    using Wide = std::conditional_t<std::is_integral_v<C>, double, C>;
    const Wide wide = static_cast<Wide>(x);
    if (wide < -static_cast<Wide>(lambda)) return narrowed<C>(wide + static_cast<Wide>(bias));
    if (wide > static_cast<Wide>(lambda)) return narrowed<C>(wide - static_cast<Wide>(bias));
    return C{0};
  }
  template <typename C, typename Wide>
  static C narrowed(Wide value) {
    if constexpr (std::is_integral_v<C>) {
      const auto low = static_cast<Wide>(std::numeric_limits<C>::lowest());
      const auto high = static_cast<Wide>(std::numeric_limits<C>::max());
      if (!(value > low)) return std::numeric_limits<C>::lowest();
      if (!(value < high)) return std::numeric_limits<C>::max();
    }
    return static_cast<C>(value);
  }
  float bias;
  float lambda;
};

// Clip: the bounds are attributes up to version 6, inputs from version 11.

template <typename C>
struct Clip {
  C operator()(C x) const {
    const C raised = low > x ? low : x;
    return high < raised ? high : raised;
  }
  C low = std::numeric_limits<C>::lowest();
  C high = std::numeric_limits<C>::max();
};

void infer_clip_attributes(InferContext& context) {
  check_input_count(context, 1, 1);
  check_type(context, 0, float_types);
  infer_same(context);
}

void run_clip_attributes(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  dispatch(input.type, FloatTypes{}, [&]<typename T>(Tag<T>) {
    Clip<Compute<T>> clip;
    if (context.node().attribute("min") != nullptr) {
      clip.low = static_cast<Compute<T>>(context.node().real("min", 0));
    }
    if (context.node().attribute("max") != nullptr) {
      clip.high = static_cast<Compute<T>>(context.node().real("max", 0));
    }
    map_elements(context.threads(), input.as<T>(), output.as<T>(), input.elements(), clip);
  });
}

void infer_clip_inputs(InferContext& context) {
  check_input_count(context, 1, 3);
  check_type(context, 0, numeric_types);
  for (std::size_t bound : {std::size_t{1}, std::size_t{2}}) {
    if (!context.has_input(bound)) continue;
    check_same_type(context, 0, bound);
    check_scalar(context, bound);
  }
  infer_same(context);
}

void run_clip_inputs(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  dispatch(input.type, NumericTypes{}, [&]<typename T>(Tag<T>) {
    Clip<Compute<T>> clip;
    if (context.has_input(1)) clip.low = load(*context.input(1).as<T>());
    if (context.has_input(2)) clip.high = load(*context.input(2).as<T>());
    map_elements(context.threads(), input.as<T>(), output.as<T>(), input.elements(), clip);
  });
}

void register_clip(OperatorTable& table) {
  for (int version : {1, 6}) {
    table.add({.name = "Clip",
               .since_version = version,
               .infer = infer_clip_attributes,
               .run = run_clip_attributes,
               .in_place_input = 0});
  }
  for (int version : {11, 12, 13}) {
    table.add({.name = "Clip",
               .since_version = version,
               .infer = infer_clip_inputs,
               .run = run_clip_inputs,
               .in_place_input = 0});
  }
}

}  // namespace

void register_activations(OperatorTable& table) {
  using FloatOrSigned = decltype(FloatTypes{} + SignedTypes{});
  add_unary<Relu, FloatOrSigned>(table, "Relu", {1, 6, 13, 14});
  add_unary<LeakyRelu, FloatTypes>(table, "LeakyRelu", {1, 6, 16});
  add_unary<ThresholdedRelu, FloatTypes>(table, "ThresholdedRelu", {1, 10});
  add_unary<Sigmoid, FloatTypes>(table, "Sigmoid", {1, 6, 13});
  add_unary<HardSigmoid, FloatTypes>(table, "HardSigmoid", {1, 6});
  add_unary<HardSwish, FloatTypes>(table, "HardSwish", {14});
  add_unary<Elu, FloatTypes>(table, "Elu", {1, 6});
  add_unary<Selu, FloatTypes>(table, "Selu", {1, 6});
  add_unary<Celu, FloatTypes>(table, "Celu", {12});
  add_unary<Softplus, FloatTypes>(table, "Softplus", {1});
  add_unary<Softsign, FloatTypes>(table, "Softsign", {1});
  add_unary<Mish, FloatTypes>(table, "Mish", {18});
  add_unary<Swish, FloatTypes>(table, "Swish", {24});
  add_unary<Gelu, FloatTypes>(table, "Gelu", {20});
  add_unary<Shrink, NumericTypes>(table, "Shrink", {9});
  register_clip(table);
}

}  // namespace plimsoll::tensor
