// Padding of a tensor, for Pad and for the operators that are Pad in other words. Why it exists:
// Pad's four modes and CenterCropPad share one loop. May touch: thread_pool.h, shape.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "plimsoll/tensor_view.h"
#include "tensor/kernels/thread_pool.h"

namespace plimsoll::tensor {

enum class PadMode : std::uint8_t {
  constant,  ///< one value
  reflect,   ///< mirrored at the edge element, which is not repeated
  edge,      ///< the edge element repeated
  wrap,      ///< from the other side
};

/// Fills `output`, of the input's type and rank. `before[k]` elements are put in front of dimension
/// k (negative: taken away); what stands behind follows from the output's shape. `value` is one
/// element, for PadMode::constant; the other modes need an input without empty dimensions.
void pad_tensor(kernels::ThreadPool& threads, const ConstTensorView& input,
                std::span<const std::int64_t> before, PadMode mode, const std::byte* value,
                const TensorView& output);

}  // namespace plimsoll::tensor
