// Products of bytes with exact 32-bit sums. Why it exists: quantised models compute in integers,
// and their results must not depend on the target. May touch: epilogue.h.
//
//   sum[m][n] = Σ_k (a[m][k] − a_zero) · (b[k][n] − b_zero[n])        modulo 2^32
//
// B lies in panels whose depth block is integer_depth_block (packing.h): four neighbours in depth
// make one 32-bit lane. Each tap starts a new block; what is missing to a whole block is zero. The
// kernels multiply unsigned by signed bytes, so B's panels are signed: an unsigned B is packed with
// its top bit flipped (value − 128), and A is read with its top bit flipped where it is signed.
// MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv: ONNX Operators.md.
#pragma once

#include <cstdint>

#include "tensor/kernels/epilogue.h"

namespace plimsoll::tensor::kernels {

inline constexpr std::int64_t integer_depth_block = 4;

enum class IntegerOutput : std::uint8_t {
  i32,  ///< sum + bias
  f32,  ///< the epilogue of float(sum + bias)
  u8,   ///< round(float(sum + bias)·scale) + zero, halves to even, saturated
  i8,
};

/// Up to max_rows rows of the result times a range of panels. Row r's factors are, for each tap t,
/// the `depth` bytes at rows[t·count + r].
struct IntegerTileTask {
  const std::uint8_t* const* rows = nullptr;
  std::int64_t count = 0;  ///< 1 to max_rows
  std::int64_t taps = 1;
  std::int64_t depth = 0;
  bool a_is_signed = false;
  std::int32_t a_zero = 0;
  const std::int8_t* panels = nullptr;
  bool b_was_unsigned = false;
  const std::int32_t* b_zeros = nullptr;  ///< per column, as in the source; null: 0
  std::int64_t columns = 0;               ///< of the whole matrix
  std::int64_t first_panel = 0;
  std::int64_t last_panel = 0;         ///< not included
  const std::int32_t* bias = nullptr;  ///< per column; null: 0
  IntegerOutput output = IntegerOutput::i32;
  void* const* outputs = nullptr;           ///< per row, column 0
  const float* const* residuals = nullptr;  ///< for f32: per row, column 0; null: none
  Epilogue epilogue;                        ///< for f32; its scale also for u8 and i8
  std::int32_t output_zero = 0;             ///< for u8 and i8
};

}  // namespace plimsoll::tensor::kernels
