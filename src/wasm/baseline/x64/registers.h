// Which register does what in baseline code. Why it exists: docs/guest-abi.md fixes some, the rest
// is shared out here. May touch: asmjit.
//
//   rbp frame   rsp stack   r12 context   rbx base of memory 0   r11 xmm15 scratch
//   all others hold values
#pragma once

#include <asmjit/x86.h>

#include <array>
#include <cstdint>

#include "wasm/baseline/slot.h"

namespace plimsoll::wasm::baseline {

namespace x86 = asmjit::x86;

inline constexpr Register rax = 0;
inline constexpr Register rcx = 1;
inline constexpr Register rdx = 2;
inline constexpr Register rbx = 3;
inline constexpr Register rsi = 6;
inline constexpr Register rdi = 7;
inline constexpr Register r8 = 8;
inline constexpr Register r9 = 9;
inline constexpr Register r10 = 10;
inline constexpr Register r11 = 11;
inline constexpr Register r12 = 12;
inline constexpr Register r13 = 13;
inline constexpr Register r14 = 14;
inline constexpr Register r15 = 15;
inline constexpr Register xmm0 = 16;
inline constexpr Register xmm15 = 31;

inline constexpr Register scratch = r11;
inline constexpr Register vector_scratch = xmm15;

using RegisterSet = std::uint32_t;
[[nodiscard]] constexpr RegisterSet bit(Register one) noexcept {
  return RegisterSet{1} << one;
}

inline constexpr RegisterSet number_registers = bit(rax) | bit(rcx) | bit(rdx) | bit(rsi) |
                                                bit(rdi) | bit(r8) | bit(r9) | bit(r10) | bit(r13) |
                                                bit(r14) | bit(r15);
inline constexpr RegisterSet vector_registers = 0x7FFF0000;  // xmm0 to xmm14

inline constexpr std::array<Register, 8> number_parameters = {r13, r14, r15, rdi,
                                                              rsi, rdx, rcx, r8};
inline constexpr std::array<Register, 8> vector_parameters = {16, 17, 18, 19, 20, 21, 22, 23};

[[nodiscard]] inline x86::Gp gp64(Register one) {
  return x86::gpq(one);
}
[[nodiscard]] inline x86::Gp gp32(Register one) {
  return x86::gpd(one);
}
[[nodiscard]] inline x86::Xmm xmm(Register one) {
  return x86::xmm(one - 16U);
}
[[nodiscard]] constexpr bool is_vector(Register one) noexcept {
  return one >= 16;
}

}  // namespace plimsoll::wasm::baseline
