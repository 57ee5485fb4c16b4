// What an operator is to the planner and the runner. Why it exists: one definition serves shape
// inference, constant folding and execution, so the three cannot disagree. May touch: graph/,
// kernels/thread_pool.h.
//
// Operators come in two kinds:
//   planned   inference gives exact output types and shapes from input types, shapes and (some)
//             input values; `run` computes into outputs that the plan has placed. If inference
//             needs a value that is not known yet (Reshape's shape, NonZero's data),
//             `require_value` says so and the planner ends the stage there: once the value is
//             computed it asks again.
//   dynamic   sequences, optionals, Loop, Scan: executed between stages, with outputs that the
//             runner owns. (If is neither: its condition is required, then the branch is inlined.)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/error.h"
#include "plimsoll/tensor_view.h"
#include "tensor/graph/graph.h"
#include "tensor/kernels/thread_pool.h"

namespace plimsoll::tensor {

struct TensorType {
  ElementType element = ElementType::undefined;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Thrown by InferContext::require_value, caught by the planner only: "ask again when input
/// `input` has been computed". Not an Error: it never leaves the planner.
struct ValueNeeded {
  std::size_t input;
};

/// What inference sees of a node. Implemented by the planner and by tests.
class InferContext {
 public:
  virtual ~InferContext() = default;
  [[nodiscard]] virtual const Node& node() const = 0;
  [[nodiscard]] std::size_t input_count() const { return node().inputs.size(); }
  [[nodiscard]] bool has_input(std::size_t index) const {
    return index < node().inputs.size() && node().inputs[index] != no_value;
  }
  [[nodiscard]] bool has_output(std::size_t index) const {
    return index < node().outputs.size() && node().outputs[index] != no_value;
  }
  /// Type and shape of an input that is there. Throws Error(bad_input) when it is not.
  [[nodiscard]] virtual const TensorType& input(std::size_t index) const = 0;
  /// The input's value where it is known now. The view lives until inference returns.
  [[nodiscard]] virtual std::optional<ConstTensorView> known_value(std::size_t index) const = 0;
  /// The input's value, or throws ValueNeeded.
  [[nodiscard]] ConstTensorView require_value(std::size_t index) const {
    if (auto value = known_value(index)) return *value;
    throw ValueNeeded{index};
  }
  /// require_value as integers (from i64 or i32) and as floats (from f32, f64, f16, bf16).
  [[nodiscard]] std::vector<std::int64_t> require_integers(std::size_t index) const;
  [[nodiscard]] std::vector<float> require_floats(std::size_t index) const;
  /// Declares an output. Ignored for an output that the node omits.
  virtual void set_output(std::size_t index, ElementType element, const Shape& shape) = 0;
};

/// What execution sees of a node. Inputs and outputs are contiguous and do not overlap, but for
/// operators that declare in_place.
class RunContext {
 public:
  virtual ~RunContext() = default;
  [[nodiscard]] virtual const Node& node() const = 0;
  [[nodiscard]] std::size_t input_count() const { return node().inputs.size(); }
  [[nodiscard]] bool has_input(std::size_t index) const {
    return index < node().inputs.size() && node().inputs[index] != no_value;
  }
  [[nodiscard]] bool has_output(std::size_t index) const {
    return index < node().outputs.size() && node().outputs[index] != no_value;
  }
  [[nodiscard]] virtual ConstTensorView input(std::size_t index) const = 0;
  [[nodiscard]] virtual TensorView output(std::size_t index) const = 0;
  /// As many bytes as the operator's `scratch` asked for; 64-byte aligned, contents undefined.
  [[nodiscard]] virtual std::span<std::byte> scratch() const = 0;
  [[nodiscard]] virtual kernels::ThreadPool& threads() const = 0;
};

struct SequenceValue;

/// A value of a dynamic operator: a tensor that the runner owns, a sequence, or nothing (an empty
/// optional).
class DynamicContext;  // operators/dynamic.h

struct Operator {
  std::string_view domain = "";  ///< "" for ai.onnx
  std::string_view name = "";
  int since_version = 1;  ///< the first opset version this definition holds for
  /// Throws Error(bad_input) for types, shapes or attributes that the standard forbids.
  void (*infer)(InferContext&) = nullptr;
  void (*run)(RunContext&) = nullptr;
  /// Scratch bytes for one run (may be null: none). Called after infer with the same context.
  std::uint64_t (*scratch)(const InferContext&) = nullptr;
  /// Output 0 may share memory with this input when it has the same bytes, no later reader, and no
  /// other input of the node is the same value; −1: never. Only for operators that read element i
  /// of it before they write element i, whatever the thread.
  int in_place_input = -1;
  /// For dynamic operators; infer and run are then null.
  void (*execute)(DynamicContext&) = nullptr;
};

/// Adds definitions to the table; used by each family's register_… function (operators/families.h).
class OperatorTable {
 public:
  void add(Operator definition);
  /// The definition with the largest since_version ≤ version; null when there is none.
  [[nodiscard]] const Operator* find(std::string_view domain, std::string_view name,
                                     int version) const;
  [[nodiscard]] std::span<const Operator> all() const { return operators_; }

  /// All operators of this build. Built at first use, thread-safe.
  [[nodiscard]] static const OperatorTable& builtin();

 private:
  std::vector<Operator> operators_;
};

}  // namespace plimsoll::tensor
