// The kernels for target generic. Flags: kernels/targets.cmake.
#include <cstdint>

#include "tensor/kernels/forms/forms.h"

#define PLIMSOLL_LANES 4
#define PLIMSOLL_TILE_ROWS 6

namespace plimsoll::tensor::kernels {
namespace {

#include "tensor/kernels/forms/form.inc"

constexpr KernelTable own_table{Target::generic, lanes, tile_rows, tile, depthwise_row, fma_limit};

}  // namespace

const KernelTable& generic_table() {
  return own_table;
}

}  // namespace plimsoll::tensor::kernels
