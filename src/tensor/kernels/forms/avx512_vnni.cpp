// Integer products for target avx512 on CPUs with VNNI. Flags: kernels/targets.cmake. Nothing else
// may be made here: a table of floating-point kernels compiled with this file's flags could be the
// copy that the linker keeps.
#include "tensor/kernels/forms/forms.h"
#include "tensor/kernels/forms/integer_tile.h"
#include "tensor/kernels/forms/vector_avx512.h"

namespace plimsoll::tensor::kernels {

IntegerTile avx512_vnni_integer_tile() {
  return integer_tile<Avx512Vector<true>>;
}

}  // namespace plimsoll::tensor::kernels
