// The kernels for target avx2. Flags: kernels/targets.cmake.
#include "tensor/kernels/forms/form.h"
#include "tensor/kernels/forms/forms.h"
#include "tensor/kernels/forms/vector_avx2.h"

namespace plimsoll::tensor::kernels {

const KernelTable& avx2_table() {
  static constexpr KernelTable table = make_table<Avx2Vector>(Target::avx2);
  return table;
}

}  // namespace plimsoll::tensor::kernels
