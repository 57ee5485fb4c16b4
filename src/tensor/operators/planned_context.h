// A node of a program as inference sees it, after inference. Why it exists: the planner asks
// operators for what only they know of their parameters (scratch, slices). May touch:
// graph/specialize.h.
#pragma once

#include "tensor/graph/specialize.h"
#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

/// Both must outlive this.
class PlannedContext : public InferContext {
 public:
  PlannedContext(Program& program, const ProgramNode& node) : program_(program), node_(node) {}
  [[nodiscard]] const Node& node() const override { return *node_.definition; }
  [[nodiscard]] const TensorType& input(std::size_t index) const override {
    return program_.values[node_.inputs.at(index)].type;
  }
  [[nodiscard]] std::optional<ConstTensorView> known_value(std::size_t index) const override {
    return tensor::known_value(program_, node_.inputs.at(index));
  }
  void set_output(std::size_t, ElementType, const Shape&) override {}

 private:
  Program& program_;
  const ProgramNode& node_;
};

}  // namespace plimsoll::tensor
