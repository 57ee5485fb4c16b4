// Includes CLI11, like cli/options.cpp.
#include "cli/commands/archive_options.h"

#include <CLI/CLI.hpp>

#include "cli/exit_code.h"

namespace plimsoll::cli {
namespace {

void add_common(CLI::App& command, ArchiveOptions& options) {
  command.add_option("--memory-limit", options.memory_limit, "the most that the index may take")
      ->type_name("SIZE");
  command.add_option("--json", options.json, "write the report as JSON; - is standard output")
      ->type_name("FILE|-");
}

}  // namespace

ArchiveParsed parse_archive_options(int argc, char** argv) {
  ArchiveParsed parsed;
  CLI::App app("Parameter archives: IRPA, safetensors, GGUF.", "plimsoll archive");
  app.require_subcommand(1);
  CLI::App* list = app.add_subcommand("list", "show every entry: key, type, shape and place");
  list->add_option("FILE", parsed.options.file, "an archive")->required()->type_name("FILE");
  add_common(*list, parsed.options);
  list->callback([&parsed] { parsed.options.command = ArchiveCommand::list; });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? exit_code::done : exit_code::usage;
  }
  return parsed;
}

}  // namespace plimsoll::cli
