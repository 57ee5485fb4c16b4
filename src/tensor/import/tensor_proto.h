// .pb files that hold a value: TensorProto, SequenceProto, OptionalProto, as ONNX's test data has
// them. Why it exists: the command line and the tests take inputs and expected outputs from them.
// May touch: the readers of this folder, graph/stored_tensor.h.
//
// Such a file does not say which of the three it is, so the caller does. Without a word it is tried
// as a tensor, then as a sequence, then as an optional. A sequence of tensors and an optional that
// holds one tensor are the same bytes: the sequence wins. An empty file is an empty sequence, or an
// optional without a value where the caller says so.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/tensor_view.h"
#include "tensor/graph/stored_tensor.h"

namespace plimsoll::tensor {

enum class ProtoKind : std::uint8_t { tensor, sequence, optional };

/// The value as references into the file: nothing above 1 KiB was read. The caller reserves memory
/// and reads each tensor into it (StoredTensor::read).
struct ProtoValue {
  ProtoKind kind = ProtoKind::tensor;
  bool is_sequence = false;  ///< a sequence, or an optional that holds one
  bool has_value = true;     ///< false: an optional without a value
  std::string name;
  /// One for a tensor, any number for a sequence, none for an optional without a value.
  std::vector<std::shared_ptr<const StoredTensor>> tensors;
};

/// Throws Error(bad_input) naming the file, the cause and what to do; Error(unsupported) for
/// sequences of sequences or maps, sparse tensors, and values of types that this build lacks.
[[nodiscard]] ProtoValue describe_tensor_proto(const std::string& path,
                                               std::optional<ProtoKind> kind = std::nullopt);
/// The same from memory, which is copied; `name` stands for the path.
[[nodiscard]] ProtoValue describe_tensor_proto_bytes(const std::string& name,
                                                     std::span<const std::byte> bytes,
                                                     std::optional<ProtoKind> kind = std::nullopt);

/// A tensor read into memory of its own.
struct LoadedTensor {
  std::string name;
  ElementType type = ElementType::undefined;
  Shape shape;
  std::vector<std::byte> bytes;  ///< row-major

  [[nodiscard]] ConstTensorView view() const { return {type, shape, bytes.data()}; }
};
/// Reads a whole tensor. The memory it takes is at most 8 times what the file holds.
[[nodiscard]] LoadedTensor load_tensor(const StoredTensor& stored);

}  // namespace plimsoll::tensor
