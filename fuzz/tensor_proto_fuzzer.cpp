// Feeds bytes to the reader of .pb values. The first byte chooses what they are said to hold; the
// rest is the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "plimsoll/error.h"
#include "tensor/import/tensor_proto.h"

namespace {

std::optional<plimsoll::tensor::ProtoKind> kind_of(std::uint8_t choice) {
  using plimsoll::tensor::ProtoKind;
  switch (choice % 4) {
    case 0:
      return ProtoKind::tensor;
    case 1:
      return ProtoKind::sequence;
    case 2:
      return ProtoKind::optional;
    default:
      return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    const auto value = plimsoll::tensor::describe_tensor_proto_bytes(
        "fuzzed.pb", std::as_bytes(std::span(data + 1, size - 1)), kind_of(data[0]));
    for (const auto& tensor : value.tensors) {
      // What was described takes at most 8 bytes for each of the file.
      if (tensor->bytes() > 8 * size) std::abort();
      (void)plimsoll::tensor::load_tensor(*tensor);
    }
  } catch (const plimsoll::Error& error) {
    if (error.kind() == plimsoll::ErrorKind::internal) std::abort();
  }
  return 0;
}
