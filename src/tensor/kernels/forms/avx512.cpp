// The kernels for target avx512. Flags: kernels/targets.cmake.
#include "tensor/kernels/forms/form.h"
#include "tensor/kernels/forms/forms.h"
#include "tensor/kernels/forms/vector_avx512.h"

namespace plimsoll::tensor::kernels {

const KernelTable& avx512_table() {
  static constexpr KernelTable table = make_table<Avx512Vector<false>>(Target::avx512);
  return table;
}

}  // namespace plimsoll::tensor::kernels
