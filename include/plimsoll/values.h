// Values in files, for host programs and the command line. Why it exists: ONNX's test data and many
// tools keep tensors as protobuf messages. May touch: the other public headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plimsoll/element_type.h"
#include "plimsoll/shape.h"

namespace plimsoll {

/// A file that holds an ONNX TensorProto, SequenceProto or OptionalProto (tried in that order).
/// Types and shapes are known once it is open; the elements stay in the file until they are read
/// into memory of the caller's. Copies share the open file.
class OnnxValueFile {
 public:
  struct Item {
    std::string name;
    ElementType type = ElementType::undefined;
    Shape shape;
  };
  /// Throws Error(bad_input) with the cause, Error(unsupported) for strings, maps and sparse
  /// tensors.
  [[nodiscard]] static OnnxValueFile open(const std::string& path);

  /// One for a tensor, any number for a sequence, none for an optional without a value.
  [[nodiscard]] const std::vector<Item>& items() const;
  [[nodiscard]] bool is_sequence() const;
  [[nodiscard]] bool is_absent() const;  ///< an optional without a value
  /// Reads all elements of an item, row-major, to `destination`, which has the item's bytes. Throws
  /// Error(bad_input) when the file holds fewer than it says.
  void read(std::size_t item, std::byte* destination) const;

  struct State;
  explicit OnnxValueFile(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

/// Bits of an f16 or bf16 nearest to `value`, ties to even.
[[nodiscard]] std::uint16_t half_bits(ElementType type, float value);
[[nodiscard]] float half_value(ElementType type, std::uint16_t bits);

}  // namespace plimsoll
