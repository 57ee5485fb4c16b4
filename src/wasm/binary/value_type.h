// Value and heap types, packed in 32 bits. Why it exists: validation compares types millions of
// times, so equality is one comparison: concrete types are always written as the canonical index
// of their rec group (type_table.h). May touch: nothing.
//
//   31            8 7        6..0
//   | heap type    | nullable | kind |      heap type: a type index, or 0xFFFF00 | code of an
//                                           abstract type; 0 unless the kind is `reference`
#pragma once

#include <cstdint>
#include <string>

namespace plimsoll::wasm {

/// A heap type: abstract, or the index of a defined type.
class HeapType {
 public:
  /// The codes of the binary format; `bottom` is below every heap type and never written down.
  enum Abstract : std::uint8_t {
    bottom = 0,
    array = 0x6A,
    structure = 0x6B,
    i31 = 0x6C,
    eq = 0x6D,
    any = 0x6E,
    external = 0x6F,
    function = 0x70,
    none = 0x71,
    no_external = 0x72,
    no_function = 0x73,
    exception = 0x69,
    no_exception = 0x74,
  };

  constexpr HeapType(Abstract abstract) noexcept  // NOLINT: an abstract type is a heap type
      : value_(abstract_base | abstract) {}
  [[nodiscard]] static constexpr HeapType concrete(std::uint32_t index) noexcept {
    return HeapType(index);
  }
  [[nodiscard]] static constexpr HeapType from_value(std::uint32_t value) noexcept {
    return HeapType(value);
  }

  [[nodiscard]] constexpr bool is_concrete() const noexcept { return value_ < abstract_base; }
  [[nodiscard]] constexpr std::uint32_t index() const noexcept { return value_; }
  [[nodiscard]] constexpr Abstract abstract() const noexcept {
    return static_cast<Abstract>(value_ & 0xFFU);
  }
  [[nodiscard]] constexpr std::uint32_t value() const noexcept { return value_; }
  constexpr bool operator==(const HeapType&) const noexcept = default;

 private:
  static constexpr std::uint32_t abstract_base = 0xFFFF00;
  explicit constexpr HeapType(std::uint32_t value) noexcept : value_(value) {}
  std::uint32_t value_;
};

class ValueType {
 public:
  enum class Kind : std::uint8_t { bottom, i32, i64, f32, f64, v128, reference };

  constexpr ValueType() noexcept = default;  ///< bottom: what unreachable code has on its stack
  constexpr ValueType(Kind kind) noexcept    // NOLINT: numbers and vectors are their kind
      : bits_(static_cast<std::uint32_t>(kind)) {}
  [[nodiscard]] static constexpr ValueType reference(HeapType heap, bool nullable) noexcept {
    ValueType type(Kind::reference);
    type.bits_ |= heap.value() << 8U | (nullable ? nullable_bit : 0U);
    return type;
  }

  [[nodiscard]] constexpr Kind kind() const noexcept { return static_cast<Kind>(bits_ & 0x7FU); }
  [[nodiscard]] constexpr bool is_bottom() const noexcept { return bits_ == 0; }
  [[nodiscard]] constexpr bool is_reference() const noexcept { return kind() == Kind::reference; }
  [[nodiscard]] constexpr bool is_nullable() const noexcept { return (bits_ & nullable_bit) != 0; }
  [[nodiscard]] constexpr HeapType heap() const noexcept {
    return HeapType::from_value(bits_ >> 8U);
  }
  /// Whether a local of it may be read before it is set.
  [[nodiscard]] constexpr bool is_defaultable() const noexcept {
    return !is_reference() || is_nullable();
  }
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }
  constexpr bool operator==(const ValueType&) const noexcept = default;

 private:
  static constexpr std::uint32_t nullable_bit = 0x80;
  std::uint32_t bits_ = 0;
};

inline constexpr ValueType i32_type = ValueType::Kind::i32;
inline constexpr ValueType i64_type = ValueType::Kind::i64;
inline constexpr ValueType f32_type = ValueType::Kind::f32;
inline constexpr ValueType f64_type = ValueType::Kind::f64;
inline constexpr ValueType v128_type = ValueType::Kind::v128;
inline constexpr ValueType funcref_type = ValueType::reference(HeapType::function, true);
inline constexpr ValueType externref_type = ValueType::reference(HeapType::external, true);
inline constexpr ValueType exnref_type = ValueType::reference(HeapType::exception, true);

/// As the text format writes them: "i32", "(ref null func)", "(ref 7)".
[[nodiscard]] std::string to_string(ValueType type);
[[nodiscard]] std::string to_string(HeapType type);

}  // namespace plimsoll::wasm
