// The readers of the archive formats. Why it exists: each is a file of its own, and only
// OpenArchive::open calls them. May touch: this folder.
//
// Each fills the index and adds the files that it names. False: the budget refused (the index knows
// why). Errors say what is wrong; the caller puts the archive's path and format in front.
#pragma once

#include "tensor/archive/archive.h"

namespace plimsoll::tensor {

[[nodiscard]] bool read_irpa(const SourceFile& file, ArchiveFiles& files, ArchiveIndex& index);
[[nodiscard]] bool read_safetensors(const SourceFile& file, ArchiveFiles& files,
                                    ArchiveIndex& index);
/// Of the sharded form: a JSON file that says which shard holds which key.
[[nodiscard]] bool read_sharded_safetensors(const SourceFile& file, ArchiveFiles& files,
                                            ArchiveIndex& index);
[[nodiscard]] bool is_sharded_index(std::string_view path) noexcept;
[[nodiscard]] bool read_gguf(const SourceFile& file, ArchiveFiles& files, ArchiveIndex& index);

}  // namespace plimsoll::tensor
