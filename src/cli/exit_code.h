// The program's exit codes. Why it exists: they are a contract with scripts; docs/command-line.md
// lists them. May touch: plimsoll/error.h.
#pragma once

#include "plimsoll/error.h"

namespace plimsoll::cli::exit_code {

inline constexpr int done = 0;
inline constexpr int usage = 2;         ///< the command line makes no sense
inline constexpr int bad_input = 3;     ///< a file, model or value is bad or missing
inline constexpr int does_not_fit = 4;  ///< refused before it was done, or while running
inline constexpr int over_limit = 5;    ///< the kernel saw more than the limit: a fault of ours
inline constexpr int failure = 6;       ///< failed, or was interrupted, while running

[[nodiscard]] constexpr int of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage:
      return usage;
    case ErrorKind::bad_input:
    case ErrorKind::unsupported:
      return bad_input;
    case ErrorKind::failure:
    case ErrorKind::internal:
      return failure;
  }
  return failure;
}

}  // namespace plimsoll::cli::exit_code
