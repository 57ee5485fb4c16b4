// A program on its way from graph nodes to kernel nodes: what has been emitted so far, and which
// values have a channels-last twin. Why it exists: products, images and epilogues are lowered in
// files of their own, and all of them need this state. May touch: graph/program.h, kernel_node.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tensor/graph/program.h"
#include "tensor/kernels/target.h"
#include "tensor/plan/kernel_node.h"

namespace plimsoll::tensor {

/// A node of the standard's own domain that is not lowered yet.
[[nodiscard]] bool is_op(const ProgramNode& node, std::string_view name);

/// Whether a value of that rank can have a channels-last twin: images, and signals N×C×L, which
/// count as images of one row.
[[nodiscard]] constexpr bool is_image_rank(std::size_t rank) {
  return rank == 3 || rank == 4;
}
/// N×C×H×W → N×H×W×C, and N×C×L → N×1×L×C.
[[nodiscard]] Shape channels_last_shape(const Shape& shape);
/// The axis of the channels-last twin that axis `axis` of a value of that rank becomes.
[[nodiscard]] std::size_t channels_last_axis(std::size_t axis, std::size_t rank);

/// Nodes are emitted in execution order. A node that is emitted reads only values that exist by
/// then; `original` and `channels_last` see to that.
class Rewriter {
 public:
  /// Takes the program's nodes: `program.nodes` is empty until `finish`. `program` must outlive
  /// this.
  Rewriter(Program& program, kernels::Target target);

  /// The nodes to rewrite, in order. Called once.
  [[nodiscard]] std::vector<ProgramNode> take_nodes();
  /// Gives the emitted nodes to the program, and its outputs their original order.
  void finish();

  [[nodiscard]] Program& program() { return program_; }
  [[nodiscard]] kernels::Target target() const { return target_; }
  [[nodiscard]] ProgramValue& value(ValueId id) { return program_.values[id]; }
  [[nodiscard]] const Shape& shape(ValueId id) { return value(id).type.shape; }
  [[nodiscard]] bool is_f32(ValueId id) { return value(id).type.element == ElementType::f32; }

  // --- values
  ValueId add_activation(std::string name, const TensorType& type);
  ValueId add_weight(const ProgramValue& like, WeightView view);
  ValueId add_constant(std::string name, const TensorType& type, std::vector<std::byte> bytes);
  /// A one-dimensional i64 constant.
  ValueId add_integers(const std::vector<std::int64_t>& list);
  /// The elements of an f32 value that is known now, or that is a vector read from a stored tensor:
  /// one value for each column of a wide weight is more than folding keeps, little beside the
  /// weight.
  [[nodiscard]] std::optional<std::vector<float>> floats(ValueId id);

  // --- readers
  /// How many operands of the program read the value; outputs of the program have two more.
  [[nodiscard]] std::uint32_t readers(ValueId id) const { return readers_[id]; }
  void add_reader(ValueId id) { ++readers_[id]; }
  void drop_reader(ValueId id) { --readers_[id]; }

  // --- nodes
  void emit(ProgramNode node);
  /// The node as it is, on operands in the graph's order.
  void emit_original(ProgramNode node);
  /// The emitted node that made the value; null where there is none. Valid until the next emit.
  [[nodiscard]] ProgramNode* maker(ValueId id);
  /// How many nodes were emitted after the one that made the value, which must have one.
  [[nodiscard]] std::size_t emitted_since(ValueId id) const {
    return emitted_.size() - 1 - maker_.at(id);
  }
  /// One reader less. An emitted node whose results nobody reads then goes, and so on up.
  void release(ValueId id);
  /// Removes an emitted node whose results nobody needs.
  static void erase(ProgramNode& node) { node = ProgramNode{}; }

  // --- channels-last twins
  [[nodiscard]] bool has_twin(ValueId id) const { return last_.contains(id); }
  /// The twin of a value that exists in that form only; nothing for others.
  [[nodiscard]] std::optional<ValueId> only_twin(ValueId id) const;
  /// Whether the value exists in the graph's order too, or instead.
  [[nodiscard]] bool has_original(ValueId id) const {
    return !has_twin(id) || have_original_.contains(id);
  }
  /// The value in the graph's order; made from its channels-last twin where only that exists.
  ValueId original(ValueId id);
  /// The channels-last twin; made by a Transpose where there is none.
  ValueId channels_last(ValueId id);
  /// A new value that is the channels-last form of `id`; whoever calls this emits its maker.
  ValueId add_twin(ValueId id);

 private:
  void emit_transpose(ValueId from, ValueId to, std::vector<std::int64_t> permutation);
  /// Emits `to` as `from` under the shape that `to` has.
  void emit_view(ValueId from, ValueId to);
  /// Of an N×C×L value its N×C×1×L form, of others themselves.
  [[nodiscard]] TensorType image_type(ValueId id);
  ValueId add_value(ProgramValue value, std::uint32_t readers);

  Program& program_;
  kernels::Target target_;
  std::vector<std::uint32_t> readers_;
  std::vector<ProgramNode> emitted_;
  std::unordered_map<ValueId, std::size_t> maker_;
  std::unordered_map<ValueId, ValueId> last_;        ///< channels-last twins
  std::unordered_map<ValueId, bool> have_original_;  ///< of those with a twin
};

}  // namespace plimsoll::tensor
