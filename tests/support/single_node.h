// Running one operator by itself. Why it exists: most operator tests are one node, some inputs and
// an expected output. May touch: interpreter.h.
//
//   const auto y = SingleNode("Clip", 6).attribute("min", 0.0F).input(tensor({2}, {-1.0F, 1.0F}))
//                      .run_tensor();
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "support/interpreter.h"
#include "tensor/operators/dispatch.h"

namespace plimsoll::tensor::test {

using TensorPointer = std::shared_ptr<OwnedTensor>;

/// A tensor of the values' own element type.
template <typename T>
[[nodiscard]] TensorPointer tensor(const Shape& shape, const std::vector<T>& values) {
  return copy_of({element_of<T>, shape, reinterpret_cast<const std::byte*>(values.data())});
}
template <typename T>
[[nodiscard]] TensorPointer vector_of(const std::vector<T>& values) {
  return tensor<T>(Shape{static_cast<std::int64_t>(values.size())}, values);
}
template <typename T>
[[nodiscard]] TensorPointer scalar(T value) {
  return tensor<T>(Shape{}, {value});
}
[[nodiscard]] inline TensorPointer integers(const std::vector<std::int64_t>& values) {
  return vector_of<std::int64_t>(values);
}

class SingleNode {
 public:
  SingleNode(std::string op_type, int opset);
  SingleNode& attribute(const std::string& key, AttributeValue value);
  SingleNode& input(TensorPointer value);
  SingleNode& no_input();  ///< an omitted optional input
  SingleNode& outputs(std::size_t count);

  [[nodiscard]] std::vector<DynamicValue> run(Interpreter::Options options = {}) const;
  /// Output `index` as a tensor.
  [[nodiscard]] std::shared_ptr<const OwnedTensor> run_tensor(
      std::size_t index = 0, Interpreter::Options options = {}) const;
  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  Graph graph_;
  std::vector<DynamicValue> inputs_;
};

/// The elements of a tensor of T.
template <typename T>
[[nodiscard]] std::vector<T> values_of(const OwnedTensor& tensor) {
  const ConstTensorView view = tensor.view();
  if (view.type != element_of<T>) fail_internal("a test reads another element type");
  return {view.as<T>(), view.as<T>() + view.elements()};
}

}  // namespace plimsoll::tensor::test
