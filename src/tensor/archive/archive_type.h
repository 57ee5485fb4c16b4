// Element types that archives know. Why it exists: formats name more types than the graph computes
// with; their sizes are needed to check an index, and their names to show it. May touch: the
// standard library, shape.h.
//
// A type is stored in blocks: `block_elements` elements take `block_bytes` bytes, along the last
// dimension. Sizes of quantised blocks are those of ggml (ggml-common.h: scales, minima, quants).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "plimsoll/shape.h"

namespace plimsoll::tensor {

// clang-format off
enum class ArchiveType : std::uint8_t {
  unknown,
  f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean, c64,
  f8_e5m2, f8_e4m3, f8_e8m0, f8_e4m3fnuz, f8_e5m2fnuz, f6_e2m3, f6_e3m2, f4,
  q4_0, q4_1, q5_0, q5_1, q8_0, q8_1, q2_k, q3_k, q4_k, q5_k, q6_k, q8_k,
  iq2_xxs, iq2_xs, iq3_xxs, iq1_s, iq4_nl, iq3_s, iq2_s, iq4_xs, iq1_m, tq1_0, tq2_0, mxfp4, nvfp4,
  q1_0,
};
// clang-format on

struct ArchiveTypeFacts {
  std::string_view name;  ///< "" for unknown
  std::uint32_t block_elements = 1;
  std::uint32_t block_bytes = 0;
};
[[nodiscard]] const ArchiveTypeFacts& facts_of(ArchiveType type) noexcept;
[[nodiscard]] std::optional<ArchiveType> archive_type_from_name(std::string_view name) noexcept;

/// Bytes of a tensor; nothing when its last dimension is no multiple of the block or the product
/// does not fit in 2^62. Not for `unknown`.
[[nodiscard]] std::optional<std::uint64_t> archive_bytes(ArchiveType type, const Shape& shape);

}  // namespace plimsoll::tensor
