#include "tensor/plan/operator_patterns.h"

#include <array>
#include <cmath>
#include <optional>

#include "tensor/graph/specialize.h"
#include "tensor/plan/activation_match.h"
#include "tensor/plan/rewriter.h"

namespace plimsoll::tensor {
namespace {

bool near(float value, float wanted) {
  // Exporters write 1/6, √2 and the like with seven digits or eight.
  return std::fabs(value - wanted) <= 1e-6F * std::fabs(wanted);
}

/// A value times a number.
struct Scaled {
  ValueId value = no_value;
  float factor = 1;
};

/// A product taken apart: two values at most, and a number.
struct Factors {
  std::array<ValueId, 2> values{no_value, no_value};
  std::size_t count = 0;
  float factor = 1;
};

class Contraction {
 public:
  explicit Contraction(Program& program)
      : program_(program),
        maker_(program.values.size(), none),
        readers_(program.values.size(), 0),
        alias_(program.values.size()) {
    for (ValueId id = 0; id < alias_.size(); ++id) alias_[id] = id;
    for (std::size_t index = 0; index < program.nodes.size(); ++index) {
      for (ValueId id : program.nodes[index].inputs) {
        if (id != no_value) ++readers_[id];
      }
      for (ValueId id : program.nodes[index].outputs) {
        if (id != no_value) maker_[id] = index;
      }
    }
    for (ValueId id : program.live_out) readers_[id] += 2;
  }

  void run() {
    for (ProgramNode& node : program_.nodes) {
      for (ValueId& id : node.inputs) {
        if (id != no_value) id = alias_[id];
      }
      if (node.kernel == nullptr && node.outputs.size() == 1 && is_f32(node.outputs[0])) {
        contract(node);
      }
    }
    std::erase_if(program_.nodes, [](const ProgramNode& node) {
      return node.definition == nullptr && node.kernel == nullptr;
    });
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  [[nodiscard]] const TensorType& type(ValueId id) const { return program_.values[id].type; }
  [[nodiscard]] bool is_f32(ValueId id) const {
    return id != no_value && type(id).element == ElementType::f32;
  }

  /// The node that made a value which only the pattern reads.
  const ProgramNode* piece(ValueId id, std::string_view op) const {
    if (id == no_value || readers_[id] != 1 || maker_[id] == none) return nullptr;
    const ProgramNode& node = program_.nodes[maker_[id]];
    return is_op(node, op) ? &node : nullptr;
  }

  std::optional<float> scalar(ValueId id) {
    if (!is_f32(id) || type(id).shape.elements() != 1) return std::nullopt;
    const auto known = known_value(program_, id);
    return known ? std::optional(*known->as<float>()) : std::nullopt;
  }

  /// A node of two operands as (value, number) where one is a number that does not change the
  /// shape. `ordered`: only the second may be.
  std::optional<Scaled> with_scalar(const ProgramNode& node, bool ordered) {
    for (std::size_t side = 0; side < (ordered ? 1 : 2); ++side) {
      const ValueId value = node.inputs[side];
      if (!is_f32(value) || type(value) != type(node.outputs[0])) continue;
      if (const auto number = scalar(node.inputs[1 - side])) return Scaled{value, *number};
    }
    return std::nullopt;
  }

  /// x·number or x/number.
  std::optional<Scaled> scaled(const ProgramNode& node) {
    if (is_op(node, "Mul")) return with_scalar(node, false);
    if (!is_op(node, "Div")) return std::nullopt;
    auto parts = with_scalar(node, true);
    if (parts) parts->factor = 1.0F / parts->factor;
    return parts;
  }

  /// x where the value is x + `number`.
  ValueId shifted(ValueId id, float number) {
    const ProgramNode* add = piece(id, "Add");
    if (add == nullptr) return no_value;
    const auto parts = with_scalar(*add, false);
    return parts && near(parts->factor, number) ? parts->value : no_value;
  }

  /// x where the value is clip(x + 3, 0, 6).
  ValueId clipped(ValueId id) {
    const ProgramNode* clip = piece(id, "Clip");
    if (clip == nullptr) return no_value;
    const auto bounds = match_activation(program_, *clip);
    if (!bounds || bounds->low != 0 || bounds->high != 6) return no_value;
    return shifted(clip->inputs[0], 3);
  }

  ValueId hard_sigmoid(ValueId id) const {
    const ProgramNode* node = piece(id, "HardSigmoid");
    if (node == nullptr || !near(node->definition->real("alpha", 0.2F), 1.0F / 6) ||
        node->definition->real("beta", 0.5F) != 0.5F) {
      return no_value;
    }
    return node->inputs[0];
  }

  ValueId sigmoid(ValueId id) const {
    const ProgramNode* node = piece(id, "Sigmoid");
    return node == nullptr ? no_value : node->inputs[0];
  }

  /// x where the value is 1 + erf(x/√2).
  ValueId normal_distribution(ValueId id) {
    const ValueId error = shifted(id, 1);
    const ProgramNode* erf = piece(error, "Erf");
    if (erf == nullptr || readers_[erf->inputs[0]] != 1) return no_value;
    const std::size_t made = maker_[erf->inputs[0]];
    if (made == none || program_.nodes[made].definition == nullptr) return no_value;
    const auto parts = scaled(program_.nodes[made]);
    return parts && near(parts->factor, std::sqrt(0.5F)) ? parts->value : no_value;
  }

  /// Whether the value is x³: a power, or x·x·x.
  bool is_cube(ValueId id, ValueId x) {
    if (const ProgramNode* power = piece(id, "Pow")) {
      const auto exponent = scalar(power->inputs[1]);
      return power->inputs[0] == x && exponent && *exponent == 3;
    }
    const ProgramNode* product = piece(id, "Mul");
    if (product == nullptr) return false;
    for (std::size_t side = 0; side < 2; ++side) {
      if (product->inputs[side] == x && is_square(product->inputs[1 - side], x)) return true;
    }
    return false;
  }

  /// x where the value is 1 + tanh(√(2/π)·(x + 0.044715·x³)).
  ValueId tanh_distribution(ValueId id) {
    const ProgramNode* tangent = piece(shifted(id, 1), "Tanh");
    const ProgramNode* outer = tangent == nullptr ? nullptr : piece(tangent->inputs[0], "Mul");
    const auto argument = outer == nullptr ? std::nullopt : scaled(*outer);
    if (!argument || !near(argument->factor, 0.797884561F)) return no_value;
    const ProgramNode* sum = piece(argument->value, "Add");
    if (sum == nullptr) return no_value;
    for (std::size_t side = 0; side < 2; ++side) {
      const ProgramNode* term = piece(sum->inputs[1 - side], "Mul");
      const auto cube = term == nullptr ? std::nullopt : scaled(*term);
      if (cube && near(cube->factor, 0.044715F) && is_cube(cube->value, sum->inputs[side])) {
        return sum->inputs[side];
      }
    }
    return no_value;
  }

  /// Takes products apart as far as nobody else reads them.
  bool add_factors(ValueId id, Factors& factors, int depth) {
    const ProgramNode* node = piece(id, "Mul");
    if (node == nullptr) node = piece(id, "Div");
    if (node != nullptr && depth > 0) {
      if (const auto parts = scaled(*node)) {
        factors.factor *= parts->factor;
        return add_factors(parts->value, factors, depth - 1);
      }
      if (is_op(*node, "Mul") && type(node->inputs[0]) == type(node->inputs[1])) {
        return add_factors(node->inputs[0], factors, depth - 1) &&
               add_factors(node->inputs[1], factors, depth - 1);
      }
    }
    if (factors.count == factors.values.size()) return false;
    factors.values[factors.count++] = id;
    return true;
  }

  std::optional<Factors> factors_of(const ProgramNode& node) {
    constexpr int depth = 2;
    Factors factors;
    if (const auto parts = scaled(node)) {
      factors.factor = parts->factor;
      if (!add_factors(parts->value, factors, depth)) return std::nullopt;
      return factors;
    }
    if (!is_op(node, "Mul") || type(node.inputs[0]) != type(node.inputs[1]) ||
        !add_factors(node.inputs[0], factors, depth) ||
        !add_factors(node.inputs[1], factors, depth)) {
      return std::nullopt;
    }
    return factors;
  }

  void contract(ProgramNode& node) {
    if (is_op(node, "Mul") || is_op(node, "Div")) {
      if (const auto parts = scaled(node); parts && parts->factor == 1) return bypass(node, *parts);
      if (const auto factors = factors_of(node); factors && contract_product(node, *factors)) {
        return;
      }
    }
    if (is_op(node, "Mul")) return contract_normalization(node);
    if (is_op(node, "Add")) return contract_bias(node);
  }

  bool contract_product(ProgramNode& node, const Factors& factors) {
    if (factors.count == 1) {
      const ValueId x = clipped(factors.values[0]);
      if (x == no_value || !near(factors.factor, 1.0F / 6)) return false;
      replace(node, "HardSigmoid", 6, {x}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}});
      return true;
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const ValueId x = factors.values[side];
      const ValueId other = factors.values[1 - side];
      if (near(factors.factor, 1.0F / 6) && clipped(other) == x) {
        replace(node, "HardSwish", 14, {x}, {});
      } else if (factors.factor == 1 && hard_sigmoid(other) == x) {
        replace(node, "HardSwish", 14, {x}, {});
      } else if (factors.factor == 1 && sigmoid(other) == x) {
        replace(node, "Swish", 24, {x}, {});
      } else if (near(factors.factor, 0.5F) && normal_distribution(other) == x) {
        replace(node, "Gelu", 20, {x}, {});
      } else if (near(factors.factor, 0.5F) && tanh_distribution(other) == x) {
        replace(node, "Gelu", 20, {x}, {{"approximate", std::string("tanh")}});
      } else {
        continue;
      }
      return true;
    }
    return false;
  }

  /// The mean over the last axis, which stays with size 1: x, else nothing.
  ValueId mean_of(ValueId id) {
    const ProgramNode* mean = piece(id, "ReduceMean");
    if (mean == nullptr || mean->definition->integer("keepdims", 1) != 1) return no_value;
    std::vector<std::int64_t> axes = mean->definition->integers("axes");
    if (mean->inputs.size() > 1 && mean->inputs[1] != no_value) {
      const auto known = known_value(program_, mean->inputs[1]);
      if (!known || known->type != ElementType::i64) return no_value;
      axes.assign(known->span<std::int64_t>().begin(), known->span<std::int64_t>().end());
    }
    const auto rank = static_cast<std::int64_t>(type(mean->inputs[0]).shape.rank());
    const bool last = axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1);
    return last ? mean->inputs[0] : no_value;
  }

  /// Whether the value is `deviation`².
  bool is_square(ValueId id, ValueId deviation) {
    if (const ProgramNode* power = piece(id, "Pow")) {
      const auto exponent = scalar(power->inputs[1]);
      return power->inputs[0] == deviation && exponent && *exponent == 2;
    }
    const ProgramNode* product = piece(id, "Mul");
    return product != nullptr && product->inputs[0] == deviation && product->inputs[1] == deviation;
  }

  bool is_vector(ValueId id, std::int64_t size) const {
    return is_f32(id) && type(id).shape.rank() == 1 && type(id).shape[0] == size;
  }

  /// scale·(x − mean)/√(variance + ε).
  void contract_normalization(ProgramNode& node) {
    for (std::size_t side = 0; side < 2; ++side) {
      const ProgramNode* quotient = piece(node.inputs[side], "Div");
      if (quotient == nullptr) continue;
      const ValueId deviation = quotient->inputs[0];
      const Shape shape = type(deviation).shape;
      const ValueId scale = node.inputs[1 - side];
      if (shape.rank() == 0 || shape.elements() == 0 || !is_vector(scale, shape.back()) ||
          type(node.outputs[0]) != type(deviation) || maker_[deviation] == none) {
        continue;
      }
      const ProgramNode* root = piece(quotient->inputs[1], "Sqrt");
      const ProgramNode* sum = root == nullptr ? nullptr : piece(root->inputs[0], "Add");
      const auto variance = sum == nullptr ? std::nullopt : with_scalar(*sum, false);
      const ProgramNode& difference = program_.nodes[maker_[deviation]];
      if (!variance || !is_op(difference, "Sub")) continue;
      const ValueId x = difference.inputs[0];
      const ValueId squares = mean_of(variance->value);
      if (squares == no_value || !is_square(squares, deviation) ||
          mean_of(difference.inputs[1]) != x || type(x) != type(deviation)) {
        continue;
      }
      // The deviation's readers: the quotient, and the square once or twice.
      const std::uint32_t inside = program_.nodes[maker_[squares]].inputs[1] == deviation ? 3 : 2;
      if (readers_[deviation] != inside) continue;
      return replace(node, "LayerNormalization", 17, {x, scale},
                     {{"axis", std::int64_t{-1}}, {"epsilon", variance->factor}});
    }
  }

  void contract_bias(ProgramNode& node) {
    for (std::size_t side = 0; side < 2; ++side) {
      const ProgramNode* normal = piece(node.inputs[side], "LayerNormalization");
      const ValueId bias = node.inputs[1 - side];
      if (normal == nullptr || normal->inputs.size() != 2 || normal->outputs.size() != 1 ||
          type(normal->inputs[0]) != type(node.outputs[0]) ||
          !is_vector(bias, type(node.outputs[0]).shape.back()) ||
          !is_vector(normal->inputs[1], type(node.outputs[0]).shape.back())) {
        continue;
      }
      const auto attributes = normal->definition->attributes;
      return replace(node, "LayerNormalization", 17, {normal->inputs[0], normal->inputs[1], bias},
                     attributes);
    }
  }

  /// Everybody who reads the product with 1 reads the other factor.
  void bypass(ProgramNode& node, const Scaled& parts) {
    const ValueId out = node.outputs[0];
    if (readers_[out] == 0) return;
    for (ValueId id : program_.live_out) {
      if (id == out) return;
    }
    alias_[out] = parts.value;
    readers_[parts.value] += readers_[out];
    readers_[out] = 0;
    remove(node);
  }

  void replace(ProgramNode& node, std::string_view op, int opset, std::vector<ValueId> inputs,
               decltype(Node::attributes) attributes) {
    auto definition = std::make_shared<Node>();
    definition->op_type = op;
    definition->opset = opset;
    definition->name = node.definition->name;
    definition->inputs.assign(inputs.size(), 0);
    definition->outputs = {0};
    definition->attributes = std::move(attributes);
    for (ValueId id : inputs) ++readers_[id];
    const std::vector<ValueId> before = std::move(node.inputs);
    node.definition = std::move(definition);
    node.op = OperatorTable::builtin().find("", op, opset);
    node.inputs = std::move(inputs);
    for (ValueId id : before) release(id);
  }

  void remove(ProgramNode& node) {
    const std::vector<ValueId> before = std::move(node.inputs);
    node = ProgramNode{};
    for (ValueId id : before) release(id);
  }

  /// One reader less; what nobody reads any more goes too.
  void release(ValueId id) {
    if (id == no_value) return;
    --readers_[id];
    if (readers_[id] != 0 || maker_[id] == none) return;
    ProgramNode& node = program_.nodes[maker_[id]];
    for (ValueId out : node.outputs) {
      if (out != no_value && readers_[out] != 0) return;
    }
    remove(node);
  }

  Program& program_;
  std::vector<std::size_t> maker_;  ///< index of the node
  std::vector<std::uint32_t> readers_;
  std::vector<ValueId> alias_;
};

}  // namespace

void contract_patterns(Program& program) {
  Contraction(program).run();
}

}  // namespace plimsoll::tensor
