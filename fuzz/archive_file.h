// What the fuzz targets of archives share. May touch: the archive floor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/memory_file.h"
#include "memory/budget.h"
#include "plimsoll/error.h"
#include "tensor/archive/archive.h"

namespace plimsoll::fuzz {

inline constexpr std::uint64_t most_index_bytes = 64 << 20;

/// Opens, looks at every entry, finds it by its key, and reads its begin and end. What external
/// entries name is not opened: it would be a file of this process.
inline void open_and_read(const std::string& path) {
  try {
    const auto archive =
        tensor::OpenArchive::open(path, memory::Budget::root("fuzz", most_index_bytes));
    if (!archive) return;
    for (std::size_t i = 0; i < (*archive)->size(); ++i) {
      const ArchiveEntry entry = (*archive)->entry(i);
      if ((*archive)->find(entry.key) != i) std::abort();
      (void)(*archive)->hash_of(i);
      if (entry.kind == ArchiveEntryKind::external) continue;
      std::vector<std::byte> some(
          static_cast<std::size_t>(std::min<std::uint64_t>(entry.length, 64)));
      (*archive)->read(i, 0, some);
      (*archive)->read(i, entry.length - some.size(), some);
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
  }
}

}  // namespace plimsoll::fuzz
