// The tables that the forms define. Why it exists: table.cpp chooses among them. May touch:
// table.h.
#pragma once

#include "tensor/kernels/table.h"

namespace plimsoll::tensor::kernels {

const KernelTable& generic_table();
const KernelTable& avx2_table();
const KernelTable& avx512_table();
const KernelTable& avx512_on_256_table();
IntegerTile avx512_vnni_integer_tile();

}  // namespace plimsoll::tensor::kernels
