// Integer arithmetic that is defined for every operand. Why it exists: values come from files, so
// overflow, division by zero and wide shifts must have a result and not be undefined. The results
// are those of two's complement hardware and of NumPy: sums wrap, x / 0 is 0. May touch: the
// standard library.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace plimsoll::tensor {

namespace detail {
// At least 32 bits wide: narrower types would be promoted to int, whose overflow is undefined.
template <std::integral T>
using WrapType = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
}  // namespace detail

template <std::integral T>
[[nodiscard]] constexpr T wrapping_add(T a, T b) noexcept {
  using W = detail::WrapType<T>;
  return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
}
template <std::integral T>
[[nodiscard]] constexpr T wrapping_subtract(T a, T b) noexcept {
  using W = detail::WrapType<T>;
  return static_cast<T>(static_cast<W>(a) - static_cast<W>(b));
}
template <std::integral T>
[[nodiscard]] constexpr T wrapping_multiply(T a, T b) noexcept {
  using W = detail::WrapType<T>;
  return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
}
template <std::integral T>
[[nodiscard]] constexpr T wrapping_negate(T a) noexcept {
  return wrapping_subtract(T{0}, a);
}

/// Towards zero; 0 for a zero divisor; the smallest value divided by −1 wraps to itself.
template <std::integral T>
[[nodiscard]] constexpr T defined_divide(T a, T b) noexcept {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrapping_negate(a);
  }
  return static_cast<T>(a / b);
}
/// The remainder with the dividend's sign (C's %); 0 for a zero divisor.
template <std::integral T>
[[nodiscard]] constexpr T defined_remainder(T a, T b) noexcept {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
/// The remainder with the divisor's sign (Python's %); 0 for a zero divisor.
template <std::integral T>
[[nodiscard]] constexpr T defined_modulo(T a, T b) noexcept {
  const T remainder = defined_remainder(a, b);
  if constexpr (std::is_signed_v<T>) {
    if (remainder != 0 && (remainder < 0) != (b < 0)) return static_cast<T>(remainder + b);
  }
  return remainder;
}

/// base^exponent, wrapping. A negative exponent gives 1 / base^−exponent towards zero.
template <std::integral T>
[[nodiscard]] constexpr T wrapping_power(T base, std::int64_t exponent) noexcept {
  if (exponent < 0) {
    if (base == 1) return 1;
    if constexpr (std::is_signed_v<T>) {
      if (base == -1) return exponent % 2 == 0 ? T{1} : T{-1};
    }
    return 0;
  }
  T result = 1;
  for (auto rest = static_cast<std::uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1U) != 0) result = wrapping_multiply(result, base);
    base = wrapping_multiply(base, base);
  }
  return result;
}

/// The floating number as an integer, towards zero. What does not fit is undefined in the standard;
/// here it is what x86 gives: NaN and values outside of 32 (for 64-bit types: 64) bits give the
/// smallest integer, whose low bits are then taken. No branches, so loops over it vectorise.
template <std::integral T, std::floating_point F>
[[nodiscard]] constexpr T truncated(F value) noexcept {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    // The upper half of the range is shifted down for the signed conversion.
    const bool upper = value >= F{0x1p63} && value < F{0x1p64};
    const F shifted = upper ? value - F{0x1p63} : value;
    const auto low = static_cast<std::uint64_t>(truncated<std::int64_t>(shifted));
    return upper ? low + (std::uint64_t{1} << 63) : low;
  } else {
    using Wide = std::conditional_t<(sizeof(T) == 8) || std::is_same_v<T, std::uint32_t>,
                                    std::int64_t, std::int32_t>;
    constexpr F limit = sizeof(Wide) == 8 ? F{0x1p63} : F{0x1p31};
    const bool fits = value > -limit - F{1} && value < limit;
    const F safe = fits ? value : F{0};
    const Wide whole = static_cast<Wide>(safe);
    return static_cast<T>(fits ? whole : std::numeric_limits<Wide>::min());
  }
}

}  // namespace plimsoll::tensor
