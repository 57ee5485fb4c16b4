// The graph as imported: names resolved to value numbers, nothing specialised yet. Why it exists:
// every later piece (specialising, fusing, planning) reads this one form. May touch:
// stored_tensor.h.
//
// Ownership: a Graph owns its nodes and values; subgraphs are owned by the attribute that holds
// them; weights are shared, immutable references.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/graph/stored_tensor.h"

namespace plimsoll::tensor {

using ValueId = std::uint32_t;
/// An omitted optional input or output.
inline constexpr ValueId no_value = UINT32_MAX;

/// A dimension as declared: a number, a name, or nothing known.
struct Dimension {
  std::int64_t value = -1;  ///< −1: not a number
  std::string symbol;       ///< may be empty
};

/// A declared type of a graph's input or output, or a TypeProto attribute. (value_info of inner
/// values is not kept: types are inferred, and a file's claims about them could be wrong.) For
/// sequences and optionals `element` and `dimensions` are those of the tensors within.
struct DeclaredType {
  enum class Kind : std::uint8_t { tensor, sequence, optional };
  Kind kind = Kind::tensor;
  ElementType element = ElementType::undefined;
  std::optional<std::vector<Dimension>> dimensions;  ///< absent: rank unknown
};

struct Graph;

/// An attribute of a kind that no covered operator has (sparse tensors, lists of graphs …). Reading
/// it throws Error(unsupported).
struct UnsupportedAttribute {
  std::string kind;
};

using AttributeValue =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<std::string>, std::shared_ptr<const StoredTensor>,
                 std::shared_ptr<const Graph>, DeclaredType, UnsupportedAttribute>;

struct Node {
  std::string op_type;
  std::string domain;            ///< "" for ai.onnx
  std::string name;              ///< may be empty; see label()
  int opset = 0;                 ///< version of `domain` that the model imports
  std::vector<ValueId> inputs;   ///< no_value where omitted
  std::vector<ValueId> outputs;  ///< no_value where omitted
  std::map<std::string, AttributeValue, std::less<>> attributes;

  [[nodiscard]] const AttributeValue* attribute(std::string_view key) const;
  /// Each throws Error(bad_input) when the attribute is there with another type; the default where
  /// it is absent. The variants without default throw when it is absent.
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t fallback) const;
  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] float real(std::string_view key, float fallback) const;
  [[nodiscard]] std::string text(std::string_view key, std::string_view fallback) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key) const;  ///< {} if absent
  [[nodiscard]] std::vector<float> reals(std::string_view key) const;            ///< {} if absent
  [[nodiscard]] std::shared_ptr<const StoredTensor> tensor(std::string_view key) const;
  [[nodiscard]] std::shared_ptr<const Graph> graph(std::string_view key) const;
  /// "Conv 'backbone/conv1'" for messages.
  [[nodiscard]] std::string label() const;
};

struct Value {
  std::string name;
  std::optional<DeclaredType> declared;
  /// Set for initialisers, Constants and what Identity makes of them; shared between values that
  /// are aliases of one weight. A subgraph that reads a weight of an enclosing graph has it here,
  /// not in its captures.
  std::shared_ptr<const StoredTensor> stored;
};

/// A value of the enclosing graph that a subgraph reads.
struct Capture {
  ValueId inner;
  ValueId outer;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;  ///< topologically ordered: the importer checks or sorts, cycles refused
  std::vector<ValueId> inputs;   ///< without those that an initialiser gives a value
  std::vector<ValueId> outputs;  ///< an output may be an input, an initialiser or a capture
  std::vector<Capture> captures;
};

/// A whole model file.
struct ModelGraph {
  Graph main;
  std::string path;
  std::string producer;
  std::int64_t ir_version = 0;
  std::map<std::string, int> opsets;  ///< domain → version, as imported by the file
};

}  // namespace plimsoll::tensor
