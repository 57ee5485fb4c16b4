// Includes CLI11, like cli/options.cpp.
#include "cli/commands/archive_options.h"

#include <CLI/CLI.hpp>

#include "cli/exit_code.h"

namespace plimsoll::cli {
namespace {

void add_limit(CLI::App& command, ArchiveOptions& options) {
  command.add_option("--memory-limit", options.memory_limit, "the most that the index may take")
      ->type_name("SIZE");
}

void add_common(CLI::App& command, ArchiveOptions& options) {
  add_limit(command, options);
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
  CLI::App* create = app.add_subcommand("create", "write an IRPA archive of given entries");
  create->add_option("-o,--output", parsed.options.output, "the archive to write")
      ->required()
      ->type_name("FILE.irpa");
  create->add_option("--data", parsed.options.data, "an entry with bytes: zeros, or one value")
      ->type_name("NAME=SHAPExTYPE[=VALUE]");
  create->add_option("--splat", parsed.options.splats, "an entry of one value, without bytes")
      ->type_name("NAME=SHAPExTYPE=VALUE");
  create
      ->add_option("--external", parsed.options.externals,
                   "an entry in another file, at a path relative to the archive")
      ->type_name("NAME=FILE:OFFSET:LENGTH");
  add_limit(*create, parsed.options);
  create->callback([&parsed] { parsed.options.command = ArchiveCommand::create; });
  CLI::App* convert = app.add_subcommand("convert", "write archives as one IRPA archive");
  convert->add_option("IN", parsed.options.inputs, "archives")->required()->type_name("IN...");
  convert->add_option("-o,--output", parsed.options.output, "the archive to write")
      ->required()
      ->type_name("FILE.irpa");
  convert->add_option("--rename", parsed.options.renames, "gives an entry another key")
      ->type_name("OLD=NEW");
  convert
      ->add_option("--exclude", parsed.options.exclusions,
                   "leaves out keys by a pattern with *, ? and [...]")
      ->type_name("PATTERN");
  convert->add_flag("--splat", parsed.options.as_splats, "the same index, all zeros without bytes");
  add_limit(*convert, parsed.options);
  convert->callback([&parsed] { parsed.options.command = ArchiveCommand::convert; });
  CLI::App* verify = app.add_subcommand("verify", "read everything and compare it with its hashes");
  verify->add_option("FILE", parsed.options.file, "an archive")->required()->type_name("FILE");
  add_limit(*verify, parsed.options);
  verify->callback([&parsed] { parsed.options.command = ArchiveCommand::verify; });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? exit_code::done : exit_code::usage;
  }
  return parsed;
}

}  // namespace plimsoll::cli
