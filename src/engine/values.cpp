#include "plimsoll/values.h"

#include <utility>

#include "tensor/graph/half.h"
#include "tensor/import/tensor_proto.h"

namespace plimsoll {

struct OnnxValueFile::State {
  tensor::ProtoValue value;
  std::vector<Item> items;
};

OnnxValueFile OnnxValueFile::open(const std::string& path) {
  auto state = std::make_shared<State>();
  state->value = tensor::describe_tensor_proto(path);
  for (const auto& stored : state->value.tensors) {
    state->items.push_back({stored->name, stored->type, stored->shape});
  }
  return OnnxValueFile(std::move(state));
}

const std::vector<OnnxValueFile::Item>& OnnxValueFile::items() const {
  return state_->items;
}

bool OnnxValueFile::is_sequence() const {
  return state_->value.is_sequence;
}

bool OnnxValueFile::is_absent() const {
  return !state_->value.has_value;
}

void OnnxValueFile::read(std::size_t item, std::byte* destination) const {
  const tensor::StoredTensor& stored = *state_->value.tensors.at(item);
  stored.read(0, stored.shape.elements(), destination);
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
