// What `plimsoll archive` was asked to do. Why it exists: parsing and doing are apart.
// May touch: the standard library.
#pragma once

#include <string>

namespace plimsoll::cli {

enum class ArchiveCommand : unsigned char { list };

struct ArchiveOptions {
  ArchiveCommand command = ArchiveCommand::list;
  std::string file;
  std::string memory_limit;  ///< empty: what the machine or its cgroup leaves
  std::string json;          ///< empty: text
};

struct ArchiveParsed {
  ArchiveOptions options;
  int exit_code = -1;  ///< −1: go on
};
[[nodiscard]] ArchiveParsed parse_archive_options(int argc, char** argv);

}  // namespace plimsoll::cli
