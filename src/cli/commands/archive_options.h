// What `plimsoll archive` was asked to do. Why it exists: parsing and doing are apart.
// May touch: the standard library.
#pragma once

#include <string>
#include <vector>

namespace plimsoll::cli {

enum class ArchiveCommand : unsigned char { list, create, convert, verify };

struct ArchiveOptions {
  ArchiveCommand command = ArchiveCommand::list;
  std::string file;
  std::string memory_limit;  ///< empty: what the machine or its cgroup leaves
  std::string json;          ///< empty: text
  std::string output;
  std::vector<std::string> data;
  std::vector<std::string> splats;
  std::vector<std::string> externals;
  std::vector<std::string> inputs;
  std::vector<std::string> renames;
  std::vector<std::string> exclusions;
  bool as_splats = false;
};

struct ArchiveParsed {
  ArchiveOptions options;
  int exit_code = -1;  ///< −1: go on
};
[[nodiscard]] ArchiveParsed parse_archive_options(int argc, char** argv);

}  // namespace plimsoll::cli
