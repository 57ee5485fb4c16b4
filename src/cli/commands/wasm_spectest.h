// The module that the specification's scripts import. Why it exists: they expect its functions,
// globals, table and memories. May touch: wasm/runtime.
#pragma once

#include <map>
#include <string>

#include "wasm/runtime/store.h"

namespace plimsoll::cli {

/// Throws Error(failure) where its memories do not fit the budget.
[[nodiscard]] std::map<std::string, wasm::External> make_spectest(wasm::Store& store);

}  // namespace plimsoll::cli
