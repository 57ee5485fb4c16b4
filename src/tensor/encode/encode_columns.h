// Part of a product's weight, encoded. Why it exists: a weight that is streamed need not be in
// memory whole: its columns can come a few panels at a time. May touch: encoding.h,
// kernels/packing.h.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/encode/encoding.h"

namespace plimsoll::tensor {

/// The encoding of `count` columns of a product's weight that lies in panels.
[[nodiscard]] Encoding column_encoding(const Encoding& whole, std::int64_t count);

/// Encodes columns [first, first + count) of a view [K, N] into `destination`, which has
/// column_encoding(…).bytes bytes and need not be zeroed. `first` is a multiple of a panel's
/// columns. `window`: staging memory, at least 4 KiB. Throws Error for a source that cannot be
/// read.
void encode_columns(const WeightView& view, const Encoding& whole, std::int64_t first,
                    std::int64_t count, std::span<std::byte> window, std::byte* destination);

}  // namespace plimsoll::tensor
