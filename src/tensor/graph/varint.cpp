#include "tensor/graph/varint.h"

#include <bit>
#include <cstring>

namespace plimsoll::tensor {

static_assert(std::endian::native == std::endian::little, "low bytes are stored first");

void store_integer(ElementType type, std::uint64_t value, std::byte* to) noexcept {
  if (type == ElementType::boolean) value = value != 0 ? 1 : 0;
  std::memcpy(to, &value, element_size(type));
}

}  // namespace plimsoll::tensor
