// What the subcommands do. May touch: the public API; everything in cli.
#pragma once

#include "cli/options.h"

namespace plimsoll::cli {

/// run, plan and bench, which share one way. Returns the exit code; throws Error.
[[nodiscard]] int execute(const Options& options);
/// Returns the exit code; throws Error.
[[nodiscard]] int inspect(const Options& options);

}  // namespace plimsoll::cli
