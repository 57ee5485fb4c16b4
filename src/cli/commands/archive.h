// `plimsoll archive …`. Why it exists: parameter archives have commands of their own. May touch:
// the public API; cli/.
#pragma once

#include "cli/commands/archive_options.h"
#include "plimsoll/archive.h"

namespace plimsoll::cli {

/// Parses and runs; `argv[0]` is "archive". Returns the exit code; throws Error.
[[nodiscard]] int archive(int argc, char** argv);

/// The commands. Return the exit code; throw Error.
[[nodiscard]] int archive_list(const ArchiveOptions& options);

}  // namespace plimsoll::cli
