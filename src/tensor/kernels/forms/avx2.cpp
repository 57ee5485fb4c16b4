// The kernels for target avx2. Flags: kernels/targets.cmake.
#include <cstdint>

#include "tensor/kernels/forms/forms.h"

#define PLIMSOLL_LANES 8
#define PLIMSOLL_TILE_ROWS 6

namespace plimsoll::tensor::kernels {
namespace {

#include "tensor/kernels/forms/form.inc"

constexpr KernelTable own_table{Target::avx2, lanes, tile_rows, tile, depthwise_row, fma_limit};

}  // namespace

const KernelTable& avx2_table() {
  return own_table;
}

}  // namespace plimsoll::tensor::kernels
