// UTF-8 as the standard wants names. Why it exists: names are shown and compared, so what is no
// UTF-8 is refused when it is read. May touch: nothing.
#pragma once

#include <string_view>

namespace plimsoll::wasm {

/// Whether the bytes are well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms).
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

}  // namespace plimsoll::wasm
