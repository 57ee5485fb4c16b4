// Bytes → messages. Why it exists: one function for each message of onnx.proto, so that each can be
// read beside its definition. May touch: wire.h, messages.h, external_data.h.
//
// All throw Error(bad_input) for bytes that are damaged or inconsistent, Error(unsupported) for
// structure beyond StructureLimit. Unknown fields are skipped, as protobuf demands.
#pragma once

#include "tensor/import/external_data.h"
#include "tensor/import/messages.h"
#include "tensor/import/wire.h"

namespace plimsoll::tensor::onnx {

/// Names come from tools that paste whole module paths together, some for every fused layer; a name
/// beyond this is a damaged file.
inline constexpr std::size_t longest_name = std::size_t{1} << 16;
/// Decoded at once, because shapes and axes are needed early: a shape or axis has at most a few
/// dozen elements (8 bytes each), and all such tensors of a model together stay far below a MiB
/// (rxnmap: 455 Constants, 3 KB).
inline constexpr std::uint64_t small_tensor_bytes = 1024;

/// What a reader of messages works on.
struct ReadContext {
  WireReader& wire;
  ExternalFiles& external;
};

[[nodiscard]] ModelMessage read_model(ReadContext& context);
[[nodiscard]] GraphMessage read_graph(ReadContext& context);
[[nodiscard]] AttributeMessage read_attribute(ReadContext& context);
/// A TypeProto; nothing for types of no supported kind (maps, sparse tensors, opaque ones).
[[nodiscard]] std::optional<DeclaredType> read_type(WireReader& wire);
/// A TensorProto as a reference to its bytes; small ones are decoded.
[[nodiscard]] std::shared_ptr<const StoredTensor> read_tensor(ReadContext& context);

}  // namespace plimsoll::tensor::onnx
