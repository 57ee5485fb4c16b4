#include "support/single_node.h"

namespace plimsoll::tensor::test {

SingleNode::SingleNode(std::string op_type, int opset) {
  Node node;
  node.op_type = std::move(op_type);
  node.opset = opset;
  graph_.nodes.push_back(std::move(node));
  outputs(1);
}

SingleNode& SingleNode::attribute(const std::string& key, AttributeValue value) {
  graph_.nodes[0].attributes[key] = std::move(value);
  return *this;
}

SingleNode& SingleNode::input(TensorPointer value) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.emplace_back();
  graph_.inputs.push_back(id);
  graph_.nodes[0].inputs.push_back(id);
  inputs_.emplace_back(std::shared_ptr<const OwnedTensor>(std::move(value)));
  return *this;
}

SingleNode& SingleNode::no_input() {
  graph_.nodes[0].inputs.push_back(no_value);
  return *this;
}

SingleNode& SingleNode::outputs(std::size_t count) {
  while (graph_.outputs.size() < count) {
    const auto id = static_cast<ValueId>(graph_.values.size());
    graph_.values.emplace_back();
    graph_.outputs.push_back(id);
    graph_.nodes[0].outputs.push_back(id);
  }
  return *this;
}

std::vector<DynamicValue> SingleNode::run(Interpreter::Options options) const {
  return Interpreter(options).run(graph_, inputs_);
}

std::shared_ptr<const OwnedTensor> SingleNode::run_tensor(std::size_t index,
                                                          Interpreter::Options options) const {
  return std::get<std::shared_ptr<const OwnedTensor>>(run(options).at(index));
}

}  // namespace plimsoll::tensor::test
