// The kernels for target avx512-on-256. Flags: kernels/targets.cmake.
#include "tensor/kernels/forms/form.h"
#include "tensor/kernels/forms/forms.h"
#include "tensor/kernels/forms/vector_avx2.h"
#include "tensor/kernels/forms/vector_paired.h"

namespace plimsoll::tensor::kernels {

const KernelTable& avx512_on_256_table() {
  static constexpr KernelTable table =
      make_table<PairedVector<Avx2Vector, 8>>(Target::avx512_on_256);
  return table;
}

}  // namespace plimsoll::tensor::kernels
