#include "tensor/operators/random.h"

#include <cmath>

namespace plimsoll::tensor {

double RandomGenerator::uniform() {
  const double high = static_cast<double>(engine_() >> 5U);
  const double low = static_cast<double>(engine_() >> 6U);
  return (high * 0x1p26 + low) * 0x1p-53;
}

double RandomGenerator::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double x = 2.0 * uniform() - 1.0;
    const double y = 2.0 * uniform() - 1.0;
    const double square = x * x + y * y;
    if (square >= 1.0 || square == 0.0) continue;
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    spare_ = factor * x;
    has_spare_ = true;
    return factor * y;
  }
}

std::uint32_t random_seed(const Node& node) {
  if (const AttributeValue* given = node.attribute("seed")) {
    // An integer for Dropout, a float for the others. Beyond 32 bits it still has to be some
    // number.
    if (const auto* whole = std::get_if<std::int64_t>(given)) {
      return static_cast<std::uint32_t>(*whole);
    }
    const float seed = node.real("seed", 0.0F);
    return seed >= 0.0F && seed < 0x1p32F ? static_cast<std::uint32_t>(seed) : 0;
  }
  // FNV-1a, 32 bits.
  std::uint32_t hash = 2166136261U;
  const auto mix = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 16777619U; };
  for (char letter : node.op_type) mix(static_cast<std::uint8_t>(letter));
  for (char letter : node.name) mix(static_cast<std::uint8_t>(letter));
  for (ValueId id : node.outputs) {
    for (unsigned shift = 0; shift < 32; shift += 8) mix(static_cast<std::uint8_t>(id >> shift));
  }
  return hash;
}

}  // namespace plimsoll::tensor
