// Parts of the runtime that guests call, and constant expressions. Why it exists: what is too long
// or too rare to be emitted inline. May touch: instance.h, context.h.
#pragma once

#include <cstddef>
#include <span>

#include "wasm/runtime/context.h"

namespace plimsoll::wasm {

/// The table that every context points to.
[[nodiscard]] const Builtins& builtins() noexcept;

/// The value of a constant expression that was checked; `used` becomes its length in bytes, `end`
/// included. Globals and functions are those of the instance.
[[nodiscard]] Cell evaluate_constant(std::span<const std::byte> expression,
                                     const Instance& instance, std::size_t& used);

}  // namespace plimsoll::wasm
