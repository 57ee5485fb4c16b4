// An open parameter archive. Why it exists: everything that reads weights sees keys and ranges, and
// not which format they came in. May touch: this folder, memory/budget, the public archive.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tensor/archive/archive_index.h"
#include "tensor/archive/source_file.h"

namespace plimsoll::tensor {

/// The files that an archive's entries lie in. File 0 is the archive; others are named by it, lie
/// below its folder, and are opened when first read. Thread-safe once filled.
class ArchiveFiles {
 public:
  ArchiveFiles(std::shared_ptr<const SourceFile> archive, std::string folder);
  /// The number of the file at `location` below the folder; the same for the same location.
  [[nodiscard]] std::uint32_t add(std::string_view location);
  /// What `add` of a new location takes in memory, about.
  [[nodiscard]] std::uint64_t bytes_for(std::string_view location) const noexcept {
    return sizeof(Named) + 3 * location.size() + folder_.size() + 128;
  }
  /// Throws what SourceFile::open_below throws.
  [[nodiscard]] std::shared_ptr<const SourceFile> file(std::uint32_t number) const;
  [[nodiscard]] const std::string& name(std::uint32_t number) const { return files_[number].name; }
  [[nodiscard]] std::size_t size() const noexcept { return files_.size(); }

 private:
  struct Named {
    std::string name;      ///< for people
    std::string location;  ///< below the folder
    mutable std::shared_ptr<const SourceFile> file;
  };
  std::string folder_;
  std::deque<Named> files_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  mutable std::mutex lock_;
};

/// Immutable, thread-safe.
class OpenArchive {
 public:
  /// See plimsoll::Archive::open; the index is claimed from `budget`.
  [[nodiscard]] static std::expected<std::shared_ptr<const OpenArchive>, Refusal> open(
      const std::string& path, const std::shared_ptr<memory::Budget>& budget);

  OpenArchive(ArchiveFormat format, std::unique_ptr<ArchiveFiles> files,
              std::unique_ptr<const ArchiveIndex> index)
      : format_(format), files_(std::move(files)), index_(std::move(index)) {}

  [[nodiscard]] ArchiveFormat format() const noexcept { return format_; }
  [[nodiscard]] const std::string& path() const { return files_->name(0); }
  [[nodiscard]] std::size_t size() const noexcept { return index_->size(); }
  [[nodiscard]] ArchiveEntry entry(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view key) const {
    return index_->find(key);
  }
  /// The open file that holds the bytes of a data or external entry. Throws when it cannot be
  /// opened or ends before the entry does.
  [[nodiscard]] std::shared_ptr<const SourceFile> file_of(std::size_t index) const;
  /// See plimsoll::Archive::read.
  void read(std::size_t index, std::uint64_t offset, std::span<std::byte> destination) const;
  [[nodiscard]] std::uint64_t index_bytes() const noexcept { return index_->bytes(); }
  /// The hash of the contents that the archive holds, if it does (ours do).
  [[nodiscard]] std::optional<std::uint64_t> hash_of(std::size_t index) const;
  [[nodiscard]] MetadataRange metadata_of(std::size_t index) const {
    return index_->metadata_of(index);
  }

 private:
  ArchiveFormat format_;
  std::unique_ptr<ArchiveFiles> files_;
  std::unique_ptr<const ArchiveIndex> index_;
};

/// Fills a splat's bytes as they are from byte `offset` of the entry on.
void fill_pattern(std::span<const std::byte> pattern, std::uint64_t offset,
                  std::span<std::byte> destination);

}  // namespace plimsoll::tensor
