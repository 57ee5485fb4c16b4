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
[[nodiscard]] int archive_create(const ArchiveOptions& options);
[[nodiscard]] int archive_convert(const ArchiveOptions& options);
[[nodiscard]] int archive_verify(const ArchiveOptions& options);

/// 0 where none was given: what the machine leaves.
[[nodiscard]] std::uint64_t archive_limit(const ArchiveOptions& options);
/// Prints a refusal; returns its exit code.
[[nodiscard]] int archive_refused(const Refusal& refusal);

}  // namespace plimsoll::cli
