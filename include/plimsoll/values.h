// Values in files, for host programs and the command line. Why it exists: ONNX's test data and many
// tools keep tensors as protobuf messages. May touch: the other public headers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plimsoll/element_type.h"
#include "plimsoll/shape.h"

namespace plimsoll {

struct DecodedTensor {
  std::string name;
  ElementType type = ElementType::undefined;
  Shape shape;
  std::vector<std::byte> bytes;  ///< row-major, little-endian
};
struct DecodedValue {
  std::vector<DecodedTensor> items;
  bool is_sequence = false;
  bool is_absent = false;  ///< an optional without a value
};

/// Reads a file that holds an ONNX TensorProto, SequenceProto or OptionalProto, tried in that
/// order. Throws Error(bad_input) with the cause, Error(unsupported) for strings, maps and sparse
/// tensors.
[[nodiscard]] DecodedValue read_onnx_value(const std::string& path);

/// Bits of an f16 or bf16 nearest to `value`, ties to even.
[[nodiscard]] std::uint16_t half_bits(ElementType type, float value);
[[nodiscard]] float half_value(ElementType type, std::uint16_t bits);

}  // namespace plimsoll
