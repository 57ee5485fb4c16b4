#include "tensor/kernels/table.h"

#include "tensor/kernels/forms/forms.h"

namespace plimsoll::tensor::kernels {

const KernelTable& kernel_table(Target target) {
  switch (target) {
    case Target::generic:
      return generic_table();
    case Target::avx2:
      return avx2_table();
    case Target::avx512:
      return avx512_table();
    case Target::avx512_on_256:
      return avx512_on_256_table();
  }
  return generic_table();
}

std::int64_t panel_columns(Target target) {
  return kernel_table(target).panel;
}

}  // namespace plimsoll::tensor::kernels
