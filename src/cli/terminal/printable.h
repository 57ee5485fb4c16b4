// Text that is safe to show. Why it exists: messages hold names from models, and a name may hold
// what a terminal obeys. May touch: the standard library.
#pragma once

#include <string>

namespace plimsoll::cli {

/// Control characters but line ends become '?'.
[[nodiscard]] inline std::string printable(std::string text) {
  for (char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    if ((code < 0x20 && c != '\n') || code == 0x7F) c = '?';
  }
  return text;
}

}  // namespace plimsoll::cli
