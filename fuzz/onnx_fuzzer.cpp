// Feeds bytes to the ONNX reader as a model. Every outcome but a graph or an Error is a finding,
// and so is an Error that blames ourselves. Tensors that import left in the file are read as well,
// since their lengths come from outside too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "plimsoll/error.h"
#include "tensor/import/onnx.h"

namespace {

using plimsoll::Error;
using plimsoll::ErrorKind;
using plimsoll::tensor::Graph;
using plimsoll::tensor::StoredTensor;

// A splat or a wrong length could claim any size; what is read is bounded here.
constexpr std::int64_t most_elements = 1 << 16;

void read_tensor(const StoredTensor& tensor) {
  const std::int64_t count = std::min(tensor.shape.elements(), most_elements);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) *
                               plimsoll::element_size(tensor.type));
  try {
    tensor.read(0, count, bytes.data());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
  }
}

void walk(const Graph& graph) {
  for (const auto& value : graph.values) {
    if (value.stored != nullptr) read_tensor(*value.stored);
  }
  for (const auto& node : graph.nodes) {
    (void)node.label();
    for (const auto& [key, attribute] : node.attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute)) walk(**body);
      if (const auto* tensor = std::get_if<std::shared_ptr<const StoredTensor>>(&attribute)) {
        read_tensor(**tensor);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto model =
        plimsoll::tensor::import_onnx_bytes("fuzzed.onnx", std::as_bytes(std::span(data, size)));
    walk(model->main);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
  }
  return 0;
}
