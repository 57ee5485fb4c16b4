#include "tensor/plan/activation_match.h"

#include <limits>

#include "tensor/graph/specialize.h"

namespace plimsoll::tensor {
namespace {

std::optional<float> bound(Program& program, const ProgramNode& node, std::size_t input,
                           std::string_view attribute, float fallback) {
  if (node.definition->opset < 11) return node.definition->real(attribute, fallback);
  if (input >= node.inputs.size() || node.inputs[input] == no_value) return fallback;
  const auto known = known_value(program, node.inputs[input]);
  if (!known || known->type != ElementType::f32 || known->elements() != 1) return std::nullopt;
  return *known->as<float>();
}

}  // namespace

std::optional<ActivationMatch> match_activation(Program& program, const ProgramNode& node) {
  using kernels::Activation;
  const Node& definition = *node.definition;
  if (!definition.domain.empty() ||
      program.values[node.inputs[0]].type.element != ElementType::f32) {
    return std::nullopt;
  }
  const std::string& op = definition.op_type;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (op == "Relu") return ActivationMatch{Activation::clip, 0, infinity};
  if (op == "Clip") {
    const auto low = bound(program, node, 1, "min", -infinity);
    const auto high = bound(program, node, 2, "max", infinity);
    if (!low || !high) return std::nullopt;
    return ActivationMatch{Activation::clip, *low, *high};
  }
  if (op == "LeakyRelu") {
    return ActivationMatch{Activation::leaky_relu, definition.real("alpha", 0.01F), 0};
  }
  if (op == "HardSigmoid") {
    return ActivationMatch{Activation::hard_sigmoid, definition.real("alpha", 0.2F),
                           definition.real("beta", 0.5F)};
  }
  if (op == "HardSwish") return ActivationMatch{Activation::hard_swish, 1.0F / 6, 0};
  if (op == "Sigmoid") return ActivationMatch{Activation::sigmoid, 0, 0};
  if (op == "Swish" && definition.real("alpha", 1.0F) == 1) {
    return ActivationMatch{Activation::silu, 0, 0};
  }
  if (op == "Gelu" && definition.text("approximate", "none") == "none") {
    return ActivationMatch{Activation::gelu, 0, 0};
  }
  if (op == "Tanh") return ActivationMatch{Activation::tanh, 0, 0};
  return std::nullopt;
}

}  // namespace plimsoll::tensor
