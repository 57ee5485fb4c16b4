// The kernels for target generic. Flags: kernels/targets.cmake.
#include "tensor/kernels/forms/form.h"
#include "tensor/kernels/forms/forms.h"
#include "tensor/kernels/forms/vector_portable.h"

namespace plimsoll::tensor::kernels {

const KernelTable& generic_table() {
  static constexpr KernelTable table = make_table<PortableVector>(Target::generic);
  return table;
}

}  // namespace plimsoll::tensor::kernels
