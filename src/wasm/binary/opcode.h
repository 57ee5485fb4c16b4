// The instructions of WebAssembly as one table. Why it exists: decoding, validation and messages
// read the same list, so an instruction is described once: opcodes/*.inc. May touch: features.h,
// value_type.h.
//
//   PLIMSOLL_OPCODE(enumerator, number, "name", feature, form, "signature", extra)
//
// number     the opcode; behind a prefix the page of the prefix plus the number that follows it
// form       how its immediates and operands are read (Form)
// signature  operands ':' results; i = i32, I = i64, f = f32, F = f64, v = v128,
//            a = an address of the memory that is accessed (i32 or i64)
// extra      log2 of the bytes accessed, or the number of lanes
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "wasm/binary/features.h"
#include "wasm/binary/value_type.h"

namespace plimsoll::wasm {

enum class Form : std::uint8_t {
  unknown,     ///< no such instruction
  plain,       ///< no immediates, the signature says all
  load,        ///< memory argument
  store,       ///< memory argument
  lane,        ///< lane index
  load_lane,   ///< memory argument and lane index
  store_lane,  ///< memory argument and lane index
  atomic,      ///< memory argument with natural alignment
  aggregate,   ///< of GC structs and arrays: known by name, not implemented
  special,     ///< has a case of its own
};

/// Where the instructions behind a prefix begin.
inline constexpr std::uint32_t page_gc = 0x100;      // 0xFB
inline constexpr std::uint32_t page_bulk = 0x200;    // 0xFC
inline constexpr std::uint32_t page_simd = 0x300;    // 0xFD
inline constexpr std::uint32_t page_atomic = 0x500;  // 0xFE
inline constexpr std::uint32_t opcode_numbers = 0x550;

enum class Opcode : std::uint16_t {
#define PLIMSOLL_OPCODE(enumerator, number, name, feature, form, signature, extra) \
  enumerator = (number),
#include "wasm/binary/opcodes/atomic.inc"
#include "wasm/binary/opcodes/bulk.inc"
#include "wasm/binary/opcodes/control.inc"
#include "wasm/binary/opcodes/numeric.inc"
#include "wasm/binary/opcodes/reference.inc"
#include "wasm/binary/opcodes/simd.inc"
#undef PLIMSOLL_OPCODE
};

/// One row of the table, 8 bytes.
struct OpcodeInfo {
  Form form = Form::unknown;
  Feature feature = Feature::core;
  std::uint8_t extra = 0;
  std::uint8_t operand_count : 4 = 0;
  std::uint8_t result_count : 4 = 0;
  /// In the order written; `ValueType::Kind`s, and 0 for an address.
  std::array<std::uint8_t, 3> operands{};
  std::uint8_t result = 0;
};

namespace detail {

constexpr std::uint8_t kind_of_letter(char letter) {
  switch (letter) {
    case 'i':
      return static_cast<std::uint8_t>(ValueType::Kind::i32);
    case 'I':
      return static_cast<std::uint8_t>(ValueType::Kind::i64);
    case 'f':
      return static_cast<std::uint8_t>(ValueType::Kind::f32);
    case 'F':
      return static_cast<std::uint8_t>(ValueType::Kind::f64);
    case 'v':
      return static_cast<std::uint8_t>(ValueType::Kind::v128);
    default:
      return 0;
  }
}

constexpr OpcodeInfo make_opcode_info(Feature feature, Form form, std::string_view signature,
                                      std::uint8_t extra) {
  OpcodeInfo info{.form = form, .feature = feature, .extra = extra};
  std::uint8_t operands = 0;
  bool after_colon = false;
  for (const char letter : signature) {
    if (letter == ':') {
      after_colon = true;
    } else if (after_colon) {
      info.result = kind_of_letter(letter);
      info.result_count = 1;
    } else {
      info.operands[operands++] = kind_of_letter(letter);
    }
  }
  info.operand_count = operands & 0xFU;
  return info;
}

constexpr std::array<OpcodeInfo, opcode_numbers> make_opcode_table() {
  std::array<OpcodeInfo, opcode_numbers> table{};
#define PLIMSOLL_OPCODE(enumerator, number, name, feature_, form_, signature, extra) \
  table[number] = make_opcode_info(Feature::feature_, Form::form_, signature, extra);
#include "wasm/binary/opcodes/atomic.inc"
#include "wasm/binary/opcodes/bulk.inc"
#include "wasm/binary/opcodes/control.inc"
#include "wasm/binary/opcodes/numeric.inc"
#include "wasm/binary/opcodes/reference.inc"
#include "wasm/binary/opcodes/simd.inc"
#undef PLIMSOLL_OPCODE
  return table;
}

}  // namespace detail

/// By number: code < 0x100, or a page plus the number behind the prefix.
inline constexpr std::array<OpcodeInfo, opcode_numbers> opcode_table = detail::make_opcode_table();

/// "i32.add"; "" for a number that is no instruction.
[[nodiscard]] std::string_view opcode_name(Opcode opcode) noexcept;

}  // namespace plimsoll::wasm
