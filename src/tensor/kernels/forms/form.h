// A target's table of kernels. Why it exists: one .cpp per target makes it, compiled with that
// target's instructions. May touch: the kernels beside it.
//
// A linker keeps one copy of each inline function and template instance, and it might keep the one
// that uses instructions which a CPU lacks. So these headers hold nothing but templates over a
// vector type that only files with the same flags use, and use nothing of the standard library.
#pragma once

#include "tensor/kernels/forms/depthwise.h"
#include "tensor/kernels/forms/fma_limit.h"
#include "tensor/kernels/forms/integer_tile.h"
#include "tensor/kernels/forms/map.h"
#include "tensor/kernels/forms/pixels.h"
#include "tensor/kernels/forms/rows.h"
#include "tensor/kernels/forms/tile.h"

namespace plimsoll::tensor::kernels {

template <typename V>
constexpr KernelTable make_table(Target target) {
  return {target,          V::lanes,       V::tile_rows,     tile<V>,     depthwise_row<V>,
          integer_tile<V>, softmax_row<V>, normalize_row<V>, add_rows<V>, weighted_rows<V>,
          largest_rows<V>, map<V>,         fma_limit<V>};
}

}  // namespace plimsoll::tensor::kernels
