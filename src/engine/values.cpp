#include "plimsoll/values.h"

#include <utility>

#include "tensor/graph/half.h"
#include "tensor/import/tensor_proto.h"

namespace plimsoll {

DecodedValue read_onnx_value(const std::string& path) {
  const tensor::ProtoValue described = tensor::describe_tensor_proto(path);
  DecodedValue value;
  value.is_sequence = described.is_sequence;
  value.is_absent = !described.has_value;
  for (const auto& stored : described.tensors) {
    tensor::LoadedTensor loaded = tensor::load_tensor(*stored);
    value.items.push_back(
        {std::move(loaded.name), loaded.type, loaded.shape, std::move(loaded.bytes)});
  }
  return value;
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
