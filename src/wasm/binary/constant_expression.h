// Checks constant expressions: initial values of globals and tables, offsets and items of segments.
// Why it exists: they are few instructions with a stack of values and no control flow, so they need
// none of what bodies need. May touch: module.h, type_reader.h.
#pragma once

#include <cstddef>
#include <span>

#include "wasm/binary/byte_reader.h"
#include "wasm/binary/features.h"
#include "wasm/binary/module.h"

namespace plimsoll::wasm {

/// Reads and checks an expression that gives one value of `expected`; returns its bytes, `end`
/// included. Globals that may be read: the immutable ones that the module has so far, imported ones
/// only unless `gc` is allowed. Functions named by `ref.func` are not marked as declared: see
/// `declare_functions`. Throws Error(bad_input).
[[nodiscard]] std::span<const std::byte> read_constant_expression(ByteReader& reader,
                                                                  const Module& module,
                                                                  FeatureUse& features,
                                                                  ValueType expected);

/// Marks the functions that a checked expression names with `ref.func`.
void declare_functions(std::span<const std::byte> expression, Module& module);

/// Reads an expression, marks its functions and puts it in the pool.
[[nodiscard]] ByteRange take_constant_expression(ByteReader& reader, Module& module,
                                                 FeatureUse& features, ValueType expected);

}  // namespace plimsoll::wasm
