// The kernels for target avx512. Flags: kernels/targets.cmake.
#include <cstdint>

#include "tensor/kernels/forms/forms.h"

#define PLIMSOLL_LANES 16
#define PLIMSOLL_TILE_ROWS 12

namespace plimsoll::tensor::kernels {
namespace {

#include "tensor/kernels/forms/form.inc"

constexpr KernelTable own_table{Target::avx512, lanes, tile_rows, tile, depthwise_row, fma_limit};

}  // namespace

const KernelTable& avx512_table() {
  return own_table;
}

}  // namespace plimsoll::tensor::kernels
