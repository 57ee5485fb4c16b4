// Element types of tensors. Why it exists: one enumeration shared by the public API, the graph, the
// kernels and the readers. May touch: the standard library only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plimsoll {

/// The numbers are ONNX's TensorProto.DataType (onnx.proto), so that a file's value casts over
/// after `element_type_from_onnx` has checked it.
enum class ElementType : std::uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
};

/// Bytes of one element; 0 for `undefined` and `string`, which have no fixed size.
[[nodiscard]] std::size_t element_size(ElementType type) noexcept;
/// The name used on the command line and in reports: "f32", "i64", "bool" …
[[nodiscard]] std::string_view element_name(ElementType type) noexcept;
/// The inverse of element_name.
[[nodiscard]] std::optional<ElementType> element_type_from_name(std::string_view name) noexcept;
/// Checks a TensorProto.DataType; nothing for types this build does not know (complex, float8,
/// int4).
[[nodiscard]] std::optional<ElementType> element_type_from_onnx(std::int64_t value) noexcept;
[[nodiscard]] bool is_floating(ElementType type) noexcept;          ///< f16, bf16, f32, f64
[[nodiscard]] bool is_signed_integer(ElementType type) noexcept;    ///< i8 … i64
[[nodiscard]] bool is_unsigned_integer(ElementType type) noexcept;  ///< u8 … u64; not bool

/// Storage of a 16-bit float; arithmetic happens in f32 (see tensor/graph/half.h).
struct Float16 {
  std::uint16_t bits;
  friend bool operator==(Float16, Float16) = default;
};
struct BFloat16 {
  std::uint16_t bits;
  friend bool operator==(BFloat16, BFloat16) = default;
};

}  // namespace plimsoll
