#include "cli/values/random.h"

#include "plimsoll/error.h"
#include "plimsoll/values.h"

namespace plimsoll::cli {
namespace {

constexpr std::uint64_t gamma = 0x9E3779B97F4A7C15ULL;

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

template <typename T, typename Make>
void fill(TensorView tensor, std::uint64_t state, Make make) {
  T* const data = tensor.as<T>();
  const std::int64_t count = tensor.elements();
  for (std::int64_t index = 0; index < count; ++index) {
    state += gamma;
    data[index] = make(mix(state));
  }
}

template <typename T>
void fill_bits(TensorView tensor, std::uint64_t state) {
  fill<T>(tensor, state, [](std::uint64_t bits) { return static_cast<T>(bits >> 63); });
}

}  // namespace

void fill_random(TensorView tensor, std::uint64_t seed, std::size_t input) {
  const std::uint64_t state = mix(mix(seed + gamma) + input + gamma);
  switch (tensor.type) {
    case ElementType::f32:
      fill<float>(tensor, state,
                  [](std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24F; });
      return;
    case ElementType::f64:
      fill<double>(tensor, state,
                   [](std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; });
      return;
    case ElementType::f16:
      fill<std::uint16_t>(tensor, state, [](std::uint64_t bits) {
        return half_bits(ElementType::f16, static_cast<float>(bits >> 53) * 0x1p-11F);
      });
      return;
    case ElementType::bf16:
      fill<std::uint16_t>(tensor, state, [](std::uint64_t bits) {
        return half_bits(ElementType::bf16, static_cast<float>(bits >> 56) * 0x1p-8F);
      });
      return;
    default:
      break;
  }
  switch (element_size(tensor.type)) {
    case 8:
      fill_bits<std::uint64_t>(tensor, state);
      return;
    case 4:
      fill_bits<std::uint32_t>(tensor, state);
      return;
    case 2:
      fill_bits<std::uint16_t>(tensor, state);
      return;
    case 1:
      fill_bits<std::uint8_t>(tensor, state);
      return;
    default:
      fail_internal("random numbers were asked for a type without numbers");
  }
}

}  // namespace plimsoll::cli
