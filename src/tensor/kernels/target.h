// Which instructions the kernels use. Why it exists: CPUs differ, so the form is chosen when the
// program runs, and any form can be asked for by name. May touch: CPUID through the compiler's
// built-ins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::tensor::kernels {

enum class Target : std::uint8_t {
  generic,        ///< 128-bit vectors, whatever the compiler's baseline has
  avx2,           ///< 256-bit: AVX2, FMA, F16C
  avx512,         ///< 512-bit: AVX-512 F, BW, DQ, VL
  avx512_on_256,  ///< the 512-bit forms on two 256-bit vectors: same tiles, same results
};

[[nodiscard]] std::string_view target_name(Target target);
[[nodiscard]] bool target_supported(Target target);
[[nodiscard]] Target best_target();
/// The target's name; the best of this CPU for an empty one. Throws Error(usage) for a name that is
/// unknown or a target that this CPU cannot run, listing those it can.
[[nodiscard]] std::string choose_target(std::string_view name);
[[nodiscard]] Target target_from_name(std::string_view name);
[[nodiscard]] std::vector<std::string> supported_targets();

}  // namespace plimsoll::tensor::kernels
