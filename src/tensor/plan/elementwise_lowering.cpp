#include "tensor/plan/elementwise_lowering.h"

#include <algorithm>
#include <memory>

#include "tensor/graph/specialize.h"
#include "tensor/plan/activation_match.h"
#include "tensor/plan/elementwise_node.h"
#include "tensor/plan/image_lowering.h"

namespace plimsoll::tensor {
namespace {

/// Nodes emitted since an operand was made: joining it moves what it read so far, so that its
/// inputs live as long instead of its result.
constexpr std::size_t longest_wait = 4;

struct Operator {
  ElementwiseStep step;
  std::size_t operands = 2;
  bool squares = false;  ///< operand 0 twice
};

std::optional<Operator> match_operator(Rewriter& rewriter, const ProgramNode& node) {
  using kernels::MapOperation;
  Operator found;
  if (is_op(node, "Add")) {
    found.step.operation = MapOperation::add;
  } else if (is_op(node, "Sub")) {
    found.step.operation = MapOperation::subtract;
  } else if (is_op(node, "Mul")) {
    found.step.operation = MapOperation::multiply;
  } else if (is_op(node, "Div")) {
    found.step.operation = MapOperation::divide;
  } else if (is_op(node, "Pow")) {
    if (!rewriter.is_f32(node.inputs[1]) || rewriter.shape(node.inputs[1]).elements() != 1 ||
        rewriter.value(node.inputs[0]).type != rewriter.value(node.outputs[0]).type) {
      return std::nullopt;
    }
    const auto exponent = known_value(rewriter.program(), node.inputs[1]);
    if (!exponent || *exponent->as<float>() != 2) return std::nullopt;
    found.step.operation = MapOperation::multiply;
    found.operands = 1;
    found.squares = true;
  } else if (is_op(node, "Tanh")) {
    return std::nullopt;  // the kernels' is right to 1e-7 of 1, not of the result
  } else {
    const auto activation = match_activation(rewriter.program(), node);
    if (!activation) return std::nullopt;
    found.step.operation = MapOperation::activate;
    found.step.activation = activation->activation;
    found.step.low = activation->low;
    found.step.high = activation->high;
    found.operands = 1;
  }
  return found;
}

/// A chain under construction.
class Chain {
 public:
  explicit Chain(Rewriter& rewriter) : rewriter_(rewriter) {}

  /// An operand that is a number, where it is known to be one.
  std::optional<StepOperand> number(ValueId id) {
    if (rewriter_.shape(id).elements() != 1) return std::nullopt;
    const auto known = known_value(rewriter_.program(), id);
    if (!known || known->type != ElementType::f32) return std::nullopt;
    return StepOperand{StepOperand::Kind::number, 0, *known->as<float>()};
  }

  /// An operand that is a value; nothing where there are too many.
  std::optional<StepOperand> input(ValueId id) {
    const auto found = std::ranges::find(inputs_, id);
    const auto index = static_cast<std::size_t>(found - inputs_.begin());
    if (found == inputs_.end()) {
      if (inputs_.size() == ElementwiseNode::most_inputs) return std::nullopt;
      inputs_.push_back(id);
    }
    return StepOperand{StepOperand::Kind::input, index, 0};
  }

  /// The steps of another chain, whose result is the operand; nothing where they are too many.
  std::optional<StepOperand> join(const ElementwiseNode& chain, std::span<const ValueId> inputs) {
    // Room for the step that reads it, and for a second operand.
    if (steps_.size() + chain.steps.size() + 1 > ElementwiseNode::most_steps) return std::nullopt;
    std::vector<ValueId> all = inputs_;
    for (ValueId id : inputs) {
      if (std::ranges::find(all, id) == all.end()) all.push_back(id);
    }
    if (all.size() >= ElementwiseNode::most_inputs) return std::nullopt;
    const std::size_t first = steps_.size();
    const auto moved = [&](StepOperand operand) {
      if (operand.kind == StepOperand::Kind::step) operand.index += first;
      return operand.kind == StepOperand::Kind::input ? *input(inputs[operand.index]) : operand;
    };
    for (ElementwiseStep step : chain.steps) {
      step.a = moved(step.a);
      step.b = moved(step.b);
      steps_.push_back(step);
    }
    return StepOperand{StepOperand::Kind::step, steps_.size() - 1, 0};
  }

  void add(const ElementwiseStep& step) { steps_.push_back(step); }

  /// The kernel for a result of type `output`.
  [[nodiscard]] std::shared_ptr<ElementwiseNode> kernel(const TensorType& output) {
    auto node = std::make_shared<ElementwiseNode>();
    node->target = rewriter_.target();
    node->steps = steps_;
    for (std::size_t index = 0; index < inputs_.size(); ++index) {
      const ProgramValue& value = rewriter_.value(inputs_[index]);
      if (node->overwritten < 0 && value.type == output)
        node->overwritten = static_cast<int>(index);
      const Shape& shape = value.type.shape;
      node->has_rows[index] = output.shape.rank() == 4 && shape.rank() == 4 &&
                              shape[1] == output.shape[1] && shape[1] > 1;
    }
    return node;
  }
  [[nodiscard]] const std::vector<ValueId>& inputs() const { return inputs_; }

 private:
  Rewriter& rewriter_;
  std::vector<ValueId> inputs_;
  std::vector<ElementwiseStep> steps_;
};

/// The emitted chain that made the operand, which nobody but this node reads.
ProgramNode* open_chain(Rewriter& rewriter, ValueId id) {
  if (rewriter.readers(id) != 1) return nullptr;
  if (rewriter.has_twin(id) && rewriter.has_original(id)) return nullptr;
  const ValueId made = rewriter.only_twin(id).value_or(id);
  ProgramNode* node = rewriter.maker(made);
  if (node == nullptr || dynamic_cast<const ElementwiseNode*>(node->kernel.get()) == nullptr ||
      rewriter.emitted_since(made) > longest_wait) {
    return nullptr;
  }
  return node;
}

}  // namespace

bool lower_elementwise_chain(Rewriter& rewriter, const ProgramNode& node) {
  if (node.outputs.size() != 1 || node.outputs[0] == no_value || node.inputs.empty() ||
      node.inputs[0] == no_value) {
    return false;
  }
  const ValueId out = node.outputs[0];
  if (!rewriter.is_f32(out) || !rewriter.is_f32(node.inputs[0]) ||
      rewriter.shape(out).elements() == 0) {
    return false;
  }
  auto found = match_operator(rewriter, node);
  // Before opset 7 the second operand stands at an axis.
  if (!found || (found->operands == 2 && node.definition->opset < 7)) return false;
  const std::size_t rank = rewriter.shape(out).rank();
  const std::span<const ValueId> operands(node.inputs.data(), found->operands);
  const bool image = is_image_rank(rank) && std::ranges::any_of(operands, [&](ValueId id) {
                       return rewriter.has_twin(id);
                     });

  // Operands outside the chain come first: making one may move what was emitted.
  std::vector<std::optional<ValueId>> values(operands.size());
  std::vector<ProgramNode*> open(operands.size(), nullptr);
  for (std::size_t index = 0; index < operands.size(); ++index) {
    const ValueId id = operands[index];
    if (open_chain(rewriter, id) != nullptr &&
        (image ? rewriter.only_twin(id).has_value() : !rewriter.has_twin(id)) &&
        rewriter.value(id).type == rewriter.value(out).type) {
      continue;
    }
    if (image) {
      values[index] = channels_last_operand(rewriter, id, rank);
      if (!values[index]) return false;
    } else {
      values[index] = rewriter.original(id);
    }
  }
  for (std::size_t index = 0; index < operands.size(); ++index) {
    if (values[index]) continue;
    // Emitting the other operand may have put it out of reach.
    open[index] = open_chain(rewriter, operands[index]);
    if (open[index] == nullptr) {
      values[index] = rewriter.only_twin(operands[index]).value_or(operands[index]);
    }
  }
  Chain chain(rewriter);
  std::vector<ProgramNode*> joined;
  StepOperand read[2];
  std::string name;
  for (std::size_t index = 0; index < operands.size(); ++index) {
    std::optional<StepOperand> operand;
    ValueId value = values[index].value_or(no_value);
    if (!values[index]) {
      const auto& kernel = dynamic_cast<const ElementwiseNode&>(*open[index]->kernel);
      operand = chain.join(kernel, open[index]->inputs);
      if (operand) {
        joined.push_back(open[index]);
        name += kernel.name + "+";
      } else {
        value = rewriter.only_twin(operands[index]).value_or(operands[index]);
      }
    }
    if (!operand) operand = chain.number(value);
    if (!operand) operand = chain.input(value);
    if (!operand) return false;
    read[index] = *operand;
  }
  found->step.a = read[0];
  if (found->operands == 2) found->step.b = read[1];
  if (found->squares) found->step.b = read[0];
  chain.add(found->step);
  for (ProgramNode* each : joined) Rewriter::erase(*each);
  const ValueId result = image ? rewriter.add_twin(out) : out;
  auto kernel = chain.kernel(rewriter.value(result).type);
  kernel->name = name + node.definition->op_type;
  rewriter.emit({node.definition, nullptr, std::move(kernel), chain.inputs(), {result}});
  return true;
}

}  // namespace plimsoll::tensor
