#include "tensor/kernels/table.h"

#include "tensor/kernels/forms/forms.h"

namespace plimsoll::tensor::kernels {
namespace {

/// VNNI computes the same integers faster; the first CPUs with AVX-512 lack it.
KernelTable avx512_with_vnni() {
  KernelTable table = avx512_table();
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni") != 0) table.integer_tile = avx512_vnni_integer_tile();
#endif
  return table;
}

}  // namespace

const KernelTable& kernel_table(Target target) {
  switch (target) {
    case Target::generic:
      return generic_table();
    case Target::avx2:
      return avx2_table();
    case Target::avx512: {
      static const KernelTable table = avx512_with_vnni();
      return table;
    }
    case Target::avx512_on_256:
      return avx512_on_256_table();
  }
  return generic_table();
}

std::int64_t panel_columns(Target target) {
  return kernel_table(target).panel;
}

}  // namespace plimsoll::tensor::kernels
