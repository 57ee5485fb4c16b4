#include "plimsoll/values.h"

#include <fmt/format.h>

#include "plimsoll/error.h"
#include "tensor/graph/half.h"
#include "tensor/import/onnx_messages.h"

namespace plimsoll {

DecodedValue read_onnx_value(const std::string& path) {
  const auto file = tensor::SourceFile::open(path);
  tensor::WireReader reader(file);
  try {
    const auto stored = tensor::onnx::read_tensor(reader);
    if (element_size(stored->type) == 0) {
      fail_unsupported("it holds a tensor whose element type is not supported, or no tensor");
    }
    DecodedValue value;
    DecodedTensor& tensor = value.items.emplace_back();
    tensor.name = stored->name;
    tensor.type = stored->type;
    tensor.shape = stored->shape;
    tensor.bytes.resize(stored->bytes());
    stored->read(0, stored->shape.elements(), tensor.bytes.data());
    return value;
  } catch (Error& error) {
    error.add_context(fmt::format("value '{}'", path));
    throw;
  }
}

std::uint16_t half_bits(ElementType type, float value) {
  return type == ElementType::f16 ? tensor::to_float16(value).bits
                                  : tensor::to_bfloat16(value).bits;
}

float half_value(ElementType type, std::uint16_t bits) {
  return type == ElementType::f16 ? tensor::to_float(Float16{bits})
                                  : tensor::to_float(BFloat16{bits});
}

}  // namespace plimsoll
