// From an element type known at run time to a C++ type. Why it exists: operators are templates over
// their element type, and every one of them chooses the instance in the same way. May touch:
// element_type.h, graph/half.h.
//
//   dispatch(view.type, FloatTypes{}, [&]<typename T>(Tag<T>) { … });
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include "plimsoll/element_type.h"
#include "plimsoll/error.h"
#include "tensor/graph/half.h"

namespace plimsoll::tensor {

/// One element of ElementType::boolean. A type of its own because bytes from outside may hold more
/// than 0 and 1, which a C++ bool must not.
struct Boolean {
  std::uint8_t byte;
};

template <typename T>
using Tag = std::type_identity<T>;

template <typename... Ts>
struct Types {};

template <typename... As, typename... Bs>
Types<As..., Bs...> operator+(Types<As...>, Types<Bs...>);

using FloatTypes = Types<float, double, Float16, BFloat16>;
using SignedTypes = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedTypes = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using IntegerTypes = decltype(SignedTypes{} + UnsignedTypes{});
using NumericTypes = decltype(FloatTypes{} + IntegerTypes{});
using AllTypes = decltype(NumericTypes{} + Types<Boolean>{});
using IndexTypes = Types<std::int32_t, std::int64_t>;

template <typename T>
inline constexpr ElementType element_of = ElementType::undefined;
template <>
inline constexpr ElementType element_of<float> = ElementType::f32;
template <>
inline constexpr ElementType element_of<double> = ElementType::f64;
template <>
inline constexpr ElementType element_of<Float16> = ElementType::f16;
template <>
inline constexpr ElementType element_of<BFloat16> = ElementType::bf16;
template <>
inline constexpr ElementType element_of<std::int8_t> = ElementType::i8;
template <>
inline constexpr ElementType element_of<std::int16_t> = ElementType::i16;
template <>
inline constexpr ElementType element_of<std::int32_t> = ElementType::i32;
template <>
inline constexpr ElementType element_of<std::int64_t> = ElementType::i64;
template <>
inline constexpr ElementType element_of<std::uint8_t> = ElementType::u8;
template <>
inline constexpr ElementType element_of<std::uint16_t> = ElementType::u16;
template <>
inline constexpr ElementType element_of<std::uint32_t> = ElementType::u32;
template <>
inline constexpr ElementType element_of<std::uint64_t> = ElementType::u64;
template <>
inline constexpr ElementType element_of<Boolean> = ElementType::boolean;

/// Calls body(Tag<T>{}) for the T of the list that `type` names. Inference has checked the type, so
/// one outside the list is a mistake of ours: Error(internal).
template <typename F, typename... Ts>
void dispatch(ElementType type, Types<Ts...> /*types*/, F&& body) {
  const bool found = ((type == element_of<Ts> ? (body(Tag<Ts>{}), true) : false) || ...);
  if (!found) {
    fail_internal(fmt::format("no kernel for elements of type {}", element_name(type)));
  }
}

/// Calls body(Tag<T>{}) with an unsigned type of as many bytes: for operators that only move
/// elements.
template <typename F>
void dispatch_width(std::size_t bytes, F&& body) {
  switch (bytes) {
    case 1:
      return body(Tag<std::uint8_t>{});
    case 2:
      return body(Tag<std::uint16_t>{});
    case 4:
      return body(Tag<std::uint32_t>{});
    case 8:
      return body(Tag<std::uint64_t>{});
    default:
      fail_internal(fmt::format("no kernel for elements of {} bytes", bytes));
  }
}

template <typename T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// What arithmetic on T happens in: f32 for the 16-bit floats, T itself otherwise.
template <typename T>
using Compute = std::conditional_t<is_half<T>, float, T>;

/// By reference: g++ does not vectorise a loop that copies a struct, even one of two bytes.
template <typename T>
[[nodiscard]] inline Compute<T> load(const T& value) noexcept {
  if constexpr (is_half<T>) {
    return to_float(value);
  } else {
    return value;
  }
}
/// Rounds to T. For a half of f64 once, not twice.
template <typename T, typename C>
[[nodiscard]] inline T store(C value) noexcept {
  if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(value);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(value);
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace plimsoll::tensor

// In front of an innermost loop: its iterations do not depend on each other, though source and
// destination may be the very same memory (operators that run in place).
// Clang's pragma would be a demand, with a warning wherever a loop cannot be vectorised.
#if defined(__clang__)
#define PLIMSOLL_INDEPENDENT_LOOP
#else
#define PLIMSOLL_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif
