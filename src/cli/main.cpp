// The entry of the `plimsoll` program. Why it exists: --version must stay tiny, so it is answered
// before the option parser is built; errors become exit codes here. May touch: options.h.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "cli/options.h"
#include "plimsoll/error.h"

namespace {

int code_of(plimsoll::ErrorKind kind) {
  using plimsoll::ErrorKind;
  namespace code = plimsoll::cli::exit_code;
  switch (kind) {
    case ErrorKind::usage:
      return code::usage;
    case ErrorKind::bad_input:
    case ErrorKind::unsupported:
      return code::bad_input;
    case ErrorKind::failure:
    case ErrorKind::internal:
      return code::failure;
  }
  return code::failure;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts("plimsoll " PLIMSOLL_VERSION);
    return 0;
  }
  try {
    const plimsoll::cli::Parsed parsed = plimsoll::cli::parse_options(argc, argv);
    if (parsed.exit_code >= 0) return parsed.exit_code;
    return plimsoll::cli::run_command(parsed.options);
  } catch (const plimsoll::Error& error) {
    fmt::print(stderr, "plimsoll: {}\n", error.message());
    return code_of(error.kind());
  } catch (const std::bad_alloc&) {
    std::fputs("plimsoll: the heap is exhausted: more memory was needed than the ledger knows of\n",
               stderr);
    return plimsoll::cli::exit_code::failure;
  }
}
