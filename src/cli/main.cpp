// The entry of the `plimsoll` program. Why it exists: --version must stay tiny, so it is answered
// before the option parser is built; errors become exit codes here. May touch: everything in cli.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "cli/commands/archive.h"
#include "cli/commands/commands.h"
#include "cli/commands/wasm.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/printable.h"
#include "plimsoll/error.h"

int main(int argc, char** argv) {
  using namespace plimsoll::cli;  // NOLINT: the program's own namespace
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts("plimsoll " PLIMSOLL_VERSION);
    return exit_code::done;
  }
  try {
    if (argc >= 2 && std::strcmp(argv[1], "wasm") == 0) return wasm(argc - 1, argv + 1);
    if (argc >= 2 && std::strcmp(argv[1], "archive") == 0) return archive(argc - 1, argv + 1);
    const Parsed parsed = parse_options(argc, argv);
    if (parsed.exit_code >= 0) return parsed.exit_code;
    return parsed.options.command == Command::inspect ? inspect(parsed.options)
                                                      : execute(parsed.options);
  } catch (const plimsoll::Error& error) {
    if (interrupted()) {
      std::fputs("plimsoll: interrupted\n", stderr);
      return exit_code::failure;
    }
    fmt::print(stderr, "plimsoll: {}\n", printable(error.message()));
    return exit_code::of(error.kind());
  } catch (const std::bad_alloc&) {
    std::fputs("plimsoll: the heap is exhausted: more memory was needed than the ledger knows of\n",
               stderr);
    return exit_code::failure;
  }
}
