// Values as scripts of the specification's suite write them. Why it exists: arguments are made from
// them and results compared with them. May touch: nlohmann-json, wasm/runtime/context.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "wasm/binary/value_type.h"
#include "wasm/runtime/context.h"

namespace plimsoll::cli {

/// Throws Error(bad_input) for a value that the suite does not write.
[[nodiscard]] wasm::Cell wast_value(const nlohmann::json& value);
/// Whether a result is what is expected: exact bits, a class of NaN, a kind of reference, or one of
/// several.
[[nodiscard]] bool wast_matches(const nlohmann::json& expected, wasm::ValueType type,
                                const wasm::Cell& found);
[[nodiscard]] std::string wast_describe(wasm::ValueType type, const wasm::Cell& cell);

}  // namespace plimsoll::cli
