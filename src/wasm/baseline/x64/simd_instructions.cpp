#include "wasm/baseline/x64/simd_instructions.h"

namespace plimsoll::wasm::baseline {

SimdInstruction simd_binary(Opcode opcode) {
  namespace Inst = x86::Inst;
  switch (opcode) {
    case Opcode::i8x16_eq:
      return {.id = Inst::kIdPcmpeqb};
    case Opcode::i16x8_eq:
      return {.id = Inst::kIdPcmpeqw};
    case Opcode::i32x4_eq:
      return {.id = Inst::kIdPcmpeqd};
    case Opcode::i64x2_eq:
      return {.id = Inst::kIdPcmpeqq};
    case Opcode::i8x16_gt_s:
      return {.id = Inst::kIdPcmpgtb};
    case Opcode::i16x8_gt_s:
      return {.id = Inst::kIdPcmpgtw};
    case Opcode::i32x4_gt_s:
      return {.id = Inst::kIdPcmpgtd};
    case Opcode::i64x2_gt_s:
      return {.id = Inst::kIdPcmpgtq};
    case Opcode::i8x16_lt_s:
      return {.id = Inst::kIdPcmpgtb, .is_swapped = true};
    case Opcode::i16x8_lt_s:
      return {.id = Inst::kIdPcmpgtw, .is_swapped = true};
    case Opcode::i32x4_lt_s:
      return {.id = Inst::kIdPcmpgtd, .is_swapped = true};
    case Opcode::i64x2_lt_s:
      return {.id = Inst::kIdPcmpgtq, .is_swapped = true};
    case Opcode::i8x16_add:
      return {.id = Inst::kIdPaddb};
    case Opcode::i16x8_add:
      return {.id = Inst::kIdPaddw};
    case Opcode::i32x4_add:
      return {.id = Inst::kIdPaddd};
    case Opcode::i64x2_add:
      return {.id = Inst::kIdPaddq};
    case Opcode::i8x16_sub:
      return {.id = Inst::kIdPsubb};
    case Opcode::i16x8_sub:
      return {.id = Inst::kIdPsubw};
    case Opcode::i32x4_sub:
      return {.id = Inst::kIdPsubd};
    case Opcode::i64x2_sub:
      return {.id = Inst::kIdPsubq};
    case Opcode::i8x16_add_sat_s:
      return {.id = Inst::kIdPaddsb};
    case Opcode::i8x16_add_sat_u:
      return {.id = Inst::kIdPaddusb};
    case Opcode::i8x16_sub_sat_s:
      return {.id = Inst::kIdPsubsb};
    case Opcode::i8x16_sub_sat_u:
      return {.id = Inst::kIdPsubusb};
    case Opcode::i16x8_add_sat_s:
      return {.id = Inst::kIdPaddsw};
    case Opcode::i16x8_add_sat_u:
      return {.id = Inst::kIdPaddusw};
    case Opcode::i16x8_sub_sat_s:
      return {.id = Inst::kIdPsubsw};
    case Opcode::i16x8_sub_sat_u:
      return {.id = Inst::kIdPsubusw};
    case Opcode::i16x8_mul:
      return {.id = Inst::kIdPmullw};
    case Opcode::i32x4_mul:
      return {.id = Inst::kIdPmulld};
    case Opcode::i8x16_min_s:
      return {.id = Inst::kIdPminsb};
    case Opcode::i8x16_min_u:
      return {.id = Inst::kIdPminub};
    case Opcode::i8x16_max_s:
      return {.id = Inst::kIdPmaxsb};
    case Opcode::i8x16_max_u:
      return {.id = Inst::kIdPmaxub};
    case Opcode::i16x8_min_s:
      return {.id = Inst::kIdPminsw};
    case Opcode::i16x8_min_u:
      return {.id = Inst::kIdPminuw};
    case Opcode::i16x8_max_s:
      return {.id = Inst::kIdPmaxsw};
    case Opcode::i16x8_max_u:
      return {.id = Inst::kIdPmaxuw};
    case Opcode::i32x4_min_s:
      return {.id = Inst::kIdPminsd};
    case Opcode::i32x4_min_u:
      return {.id = Inst::kIdPminud};
    case Opcode::i32x4_max_s:
      return {.id = Inst::kIdPmaxsd};
    case Opcode::i32x4_max_u:
      return {.id = Inst::kIdPmaxud};
    case Opcode::i8x16_avgr_u:
      return {.id = Inst::kIdPavgb};
    case Opcode::i16x8_avgr_u:
      return {.id = Inst::kIdPavgw};
    case Opcode::i8x16_narrow_i16x8_s:
      return {.id = Inst::kIdPacksswb};
    case Opcode::i8x16_narrow_i16x8_u:
      return {.id = Inst::kIdPackuswb};
    case Opcode::i16x8_narrow_i32x4_s:
      return {.id = Inst::kIdPackssdw};
    case Opcode::i16x8_narrow_i32x4_u:
      return {.id = Inst::kIdPackusdw};
    case Opcode::i32x4_dot_i16x8_s:
      return {.id = Inst::kIdPmaddwd};
    case Opcode::v128_and:
      return {.id = Inst::kIdPand};
    case Opcode::v128_or:
      return {.id = Inst::kIdPor};
    case Opcode::v128_xor:
      return {.id = Inst::kIdPxor};
    case Opcode::v128_andnot:
      return {.id = Inst::kIdPandn, .is_swapped = true};
    case Opcode::i16x8_relaxed_dot_i8x16_i7x16_s:
      return {.id = Inst::kIdPmaddubsw, .is_swapped = true};
    case Opcode::f32x4_add:
      return {.id = Inst::kIdAddps};
    case Opcode::f32x4_sub:
      return {.id = Inst::kIdSubps};
    case Opcode::f32x4_mul:
      return {.id = Inst::kIdMulps};
    case Opcode::f32x4_div:
      return {.id = Inst::kIdDivps};
    case Opcode::f32x4_pmin:
      return {.id = Inst::kIdMinps, .is_swapped = true};
    case Opcode::f32x4_pmax:
      return {.id = Inst::kIdMaxps, .is_swapped = true};
    case Opcode::f32x4_eq:
      return {.id = Inst::kIdCmpps, .immediate = 0};
    case Opcode::f32x4_ne:
      return {.id = Inst::kIdCmpps, .immediate = 4};
    case Opcode::f32x4_lt:
      return {.id = Inst::kIdCmpps, .immediate = 1};
    case Opcode::f32x4_le:
      return {.id = Inst::kIdCmpps, .immediate = 2};
    case Opcode::f32x4_gt:
      return {.id = Inst::kIdCmpps, .is_swapped = true, .immediate = 1};
    case Opcode::f32x4_ge:
      return {.id = Inst::kIdCmpps, .is_swapped = true, .immediate = 2};
    case Opcode::f64x2_add:
      return {.id = Inst::kIdAddpd};
    case Opcode::f64x2_sub:
      return {.id = Inst::kIdSubpd};
    case Opcode::f64x2_mul:
      return {.id = Inst::kIdMulpd};
    case Opcode::f64x2_div:
      return {.id = Inst::kIdDivpd};
    case Opcode::f64x2_pmin:
      return {.id = Inst::kIdMinpd, .is_swapped = true};
    case Opcode::f64x2_pmax:
      return {.id = Inst::kIdMaxpd, .is_swapped = true};
    case Opcode::f64x2_eq:
      return {.id = Inst::kIdCmppd, .immediate = 0};
    case Opcode::f64x2_ne:
      return {.id = Inst::kIdCmppd, .immediate = 4};
    case Opcode::f64x2_lt:
      return {.id = Inst::kIdCmppd, .immediate = 1};
    case Opcode::f64x2_le:
      return {.id = Inst::kIdCmppd, .immediate = 2};
    case Opcode::f64x2_gt:
      return {.id = Inst::kIdCmppd, .is_swapped = true, .immediate = 1};
    case Opcode::f64x2_ge:
      return {.id = Inst::kIdCmppd, .is_swapped = true, .immediate = 2};
    default:
      return {};
  }
}

SimdInstruction simd_unary(Opcode opcode) {
  namespace Inst = x86::Inst;
  switch (opcode) {
    case Opcode::i8x16_abs:
      return {.id = Inst::kIdPabsb};
    case Opcode::i16x8_abs:
      return {.id = Inst::kIdPabsw};
    case Opcode::i32x4_abs:
      return {.id = Inst::kIdPabsd};
    case Opcode::i16x8_extend_low_i8x16_s:
      return {.id = Inst::kIdPmovsxbw};
    case Opcode::i16x8_extend_low_i8x16_u:
      return {.id = Inst::kIdPmovzxbw};
    case Opcode::i32x4_extend_low_i16x8_s:
      return {.id = Inst::kIdPmovsxwd};
    case Opcode::i32x4_extend_low_i16x8_u:
      return {.id = Inst::kIdPmovzxwd};
    case Opcode::i64x2_extend_low_i32x4_s:
      return {.id = Inst::kIdPmovsxdq};
    case Opcode::i64x2_extend_low_i32x4_u:
      return {.id = Inst::kIdPmovzxdq};
    case Opcode::f32x4_sqrt:
      return {.id = Inst::kIdSqrtps};
    case Opcode::f64x2_sqrt:
      return {.id = Inst::kIdSqrtpd};
    case Opcode::f32x4_convert_i32x4_s:
      return {.id = Inst::kIdCvtdq2ps};
    case Opcode::f64x2_convert_low_i32x4_s:
      return {.id = Inst::kIdCvtdq2pd};
    case Opcode::f32x4_demote_f64x2_zero:
      return {.id = Inst::kIdCvtpd2ps};
    case Opcode::f64x2_promote_low_f32x4:
      return {.id = Inst::kIdCvtps2pd};
    case Opcode::f32x4_nearest:
      return {.id = Inst::kIdRoundps, .immediate = 8};
    case Opcode::f32x4_floor:
      return {.id = Inst::kIdRoundps, .immediate = 9};
    case Opcode::f32x4_ceil:
      return {.id = Inst::kIdRoundps, .immediate = 10};
    case Opcode::f32x4_trunc:
      return {.id = Inst::kIdRoundps, .immediate = 11};
    case Opcode::f64x2_nearest:
      return {.id = Inst::kIdRoundpd, .immediate = 8};
    case Opcode::f64x2_floor:
      return {.id = Inst::kIdRoundpd, .immediate = 9};
    case Opcode::f64x2_ceil:
      return {.id = Inst::kIdRoundpd, .immediate = 10};
    case Opcode::f64x2_trunc:
      return {.id = Inst::kIdRoundpd, .immediate = 11};
    default:
      return {};
  }
}

}  // namespace plimsoll::wasm::baseline
