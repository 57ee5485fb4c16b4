// fmt, compiled once. Why it exists: Debian ships no static fmt, and taken header-only every file
// that formats a message compiles the whole of it again, which was two thirds of the build's time.
// What is instantiated here is what fmt's headers declare `extern template`.
#include <fmt/format-inl.h>

template auto fmt::detail::thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto fmt::detail::decimal_point_impl<char>(locale_ref) -> char;
template auto fmt::detail::dragonbox::to_decimal<float>(float) noexcept -> decimal_fp<float>;
template auto fmt::detail::dragonbox::to_decimal<double>(double) noexcept -> decimal_fp<double>;
