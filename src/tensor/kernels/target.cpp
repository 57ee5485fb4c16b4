#include "tensor/kernels/target.h"

#include <fmt/format.h>

#include <array>

#include "plimsoll/error.h"

namespace plimsoll::tensor::kernels {
namespace {

constexpr std::array<Target, 4> all_targets{Target::generic, Target::avx2, Target::avx512,
                                            Target::avx512_on_256};

}  // namespace

std::string_view target_name(Target target) {
  switch (target) {
    case Target::generic:
      return "generic";
    case Target::avx2:
      return "avx2";
    case Target::avx512:
      return "avx512";
    case Target::avx512_on_256:
      return "avx512-on-256";
  }
  return "?";
}

bool target_supported(Target target) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                    __builtin_cpu_supports("f16c") != 0;
  switch (target) {
    case Target::generic:
      return true;
    case Target::avx2:
    case Target::avx512_on_256:
      return avx2;
    case Target::avx512:
      return avx2 && __builtin_cpu_supports("avx512f") != 0 &&
             __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
             __builtin_cpu_supports("avx512vl") != 0;
  }
#endif
  return target == Target::generic;
}

Target best_target() {
  if (target_supported(Target::avx512)) return Target::avx512;
  if (target_supported(Target::avx2)) return Target::avx2;
  return Target::generic;
}

std::vector<std::string> supported_targets() {
  std::vector<std::string> names;
  for (Target target : all_targets) {
    if (target_supported(target)) names.emplace_back(target_name(target));
  }
  return names;
}

std::string choose_target(std::string_view name) {
  if (name.empty()) return std::string(target_name(best_target()));
  for (Target target : all_targets) {
    if (name == target_name(target) && target_supported(target)) return std::string(name);
  }
  throw Error(ErrorKind::usage,
              fmt::format("target '{}' is unknown or not for this CPU, which runs: {}", name,
                          fmt::join(supported_targets(), ", ")));
}

Target target_from_name(std::string_view name) {
  for (Target target : all_targets) {
    if (name == target_name(target)) return target;
  }
  fail_internal(fmt::format("target '{}' is unknown", name));
}

}  // namespace plimsoll::tensor::kernels
