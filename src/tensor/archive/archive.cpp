#include "tensor/archive/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"
#include "tensor/archive/entry_facts.h"
#include "tensor/archive/formats.h"

namespace plimsoll::tensor {
namespace {

constexpr std::string_view known_formats =
    "it is neither IRPA nor safetensors nor GGUF; check that the file is whole";

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

ArchiveFormat recognise(const SourceFile& file) {
  std::array<std::byte, 16> first{};
  const std::size_t length = std::min<std::uint64_t>(first.size(), file.size());
  file.read(0, std::span(first).first(length));
  const std::string_view text(reinterpret_cast<const char*>(first.data()), length);
  if (text.empty()) fail_input(fmt::format("'{}' is empty: fetch it again", file.path()));
  if (text.starts_with("IRPA")) return ArchiveFormat::irpa;
  if (text.starts_with("GGUF")) return ArchiveFormat::gguf;
  if (is_sharded_index(file.path()) || file.path().ends_with(".safetensors") ||
      (text.size() > 8 && text[8] == '{')) {
    return ArchiveFormat::safetensors;
  }
  fail_input(fmt::format("'{}' is no parameter archive that this build knows: {}", file.path(),
                         known_formats));
}

bool read_index(ArchiveFormat format, const SourceFile& file, ArchiveFiles& files,
                ArchiveIndex& index) {
  switch (format) {
    case ArchiveFormat::irpa:
      return read_irpa(file, files, index);
    case ArchiveFormat::safetensors:
      return is_sharded_index(file.path()) ? read_sharded_safetensors(file, files, index)
                                           : read_safetensors(file, files, index);
    case ArchiveFormat::gguf:
      return read_gguf(file, files, index);
  }
  fail_internal("an archive's format has no reader");
}

}  // namespace

ArchiveFiles::ArchiveFiles(std::shared_ptr<const SourceFile> archive, std::string folder)
    : folder_(std::move(folder)) {
  std::string name = archive->path();
  files_.push_back({std::move(name), "", std::move(archive)});
}

std::uint32_t ArchiveFiles::add(std::string_view location) {
  const auto known = numbers_.find(location);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(files_.size());
  files_.push_back({fmt::format("{}/{}", folder_, location), std::string(location), nullptr});
  numbers_.emplace(location, number);
  return number;
}

std::shared_ptr<const SourceFile> ArchiveFiles::file(std::uint32_t number) const {
  const Named& named = files_[number];
  const std::scoped_lock lock(lock_);
  if (!named.file) named.file = SourceFile::open_below(folder_, named.location);
  return named.file;
}

std::expected<std::shared_ptr<const OpenArchive>, Refusal> OpenArchive::open(
    const std::string& path, const std::shared_ptr<memory::Budget>& budget) {
  const auto file = SourceFile::open(path);
  const ArchiveFormat format = recognise(*file);
  auto files = std::make_unique<ArchiveFiles>(file, folder_of(path));
  auto index = std::make_unique<ArchiveIndex>(budget);
  try {
    if (!read_index(format, *file, *files, *index) || !index->finish()) {
      return std::unexpected(index->refusal());
    }
    if (const auto key = index->duplicate_key()) {
      fail_input(
          fmt::format("the key '{}' is there twice: which one is meant cannot be known", *key));
    }
    std::optional<ArchiveOverlap> overlap;
    if (format != ArchiveFormat::irpa) {
      if (!index->find_overlap(overlap)) return std::unexpected(index->refusal());
      if (overlap) {
        fail_input(fmt::format("the bytes of '{}' and '{}' overlap: fetch the file again",
                               overlap->first, overlap->second));
      }
    }
  } catch (Error& error) {
    if (error.message().starts_with(fmt::format("'{}", path))) throw;
    error.add_context(fmt::format("'{}' ({})", path, archive_format_name(format)));
    throw;
  }
  return std::make_shared<const OpenArchive>(format, std::move(files), std::move(index));
}

ArchiveEntry OpenArchive::entry(std::size_t index) const {
  if (index >= size()) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' has {} entries and no number {}", path(), size(), index));
  }
  ArchiveEntry entry = index_->entry(index);
  if (entry.kind != ArchiveEntryKind::splat) entry.file = files_->name(index_->file_of(index));
  return entry;
}

std::shared_ptr<const SourceFile> OpenArchive::file_of(std::size_t index) const {
  const ArchiveEntry about = entry(index);
  auto file = files_->file(index_->file_of(index));
  if (about.offset > file->size() || about.length > file->size() - about.offset) {
    fail_input(
        fmt::format("'{}': the entry '{}' needs {} bytes at offset {} of '{}', which has {} "
                    "bytes: fetch that file again",
                    path(), about.key, about.length, about.offset, file->path(), file->size()));
  }
  return file;
}

std::optional<std::uint64_t> OpenArchive::hash_of(std::size_t index) const {
  const MetadataRange range = index_->metadata_of(index);
  if (format_ != ArchiveFormat::irpa || range.length > most_facts_bytes) return std::nullopt;
  std::string text(static_cast<std::size_t>(range.length), '\0');
  files_->file(0)->read(range.offset, std::as_writable_bytes(std::span(text)));
  const auto facts = parse_entry_facts(text);
  return facts ? facts->hash : std::nullopt;
}

void OpenArchive::read(std::size_t index, std::uint64_t offset,
                       std::span<std::byte> destination) const {
  const ArchiveEntry about = entry(index);
  if (offset > about.length || destination.size() > about.length - offset) {
    fail_input(
        fmt::format("'{}': the entry '{}' has {} bytes, but {} bytes from byte {} on are "
                    "needed: it is not what the reader takes it for",
                    path(), about.key, about.length, destination.size(), offset));
  }
  if (destination.empty()) return;
  if (about.kind == ArchiveEntryKind::splat) {
    fill_pattern(about.pattern, offset, destination);
  } else {
    file_of(index)->read(about.offset + offset, destination);
  }
}

void fill_pattern(std::span<const std::byte> pattern, std::uint64_t offset,
                  std::span<std::byte> destination) {
  if (pattern.size() == 1) {
    std::memset(destination.data(), std::to_integer<int>(pattern[0]), destination.size());
    return;
  }
  // The first whole pattern byte by byte, then by doubling what is there.
  const std::size_t begin = std::min(pattern.size(), destination.size());
  for (std::size_t i = 0; i < begin; ++i) {
    destination[i] = pattern[static_cast<std::size_t>((offset + i) % pattern.size())];
  }
  for (std::size_t done = begin; done < destination.size();) {
    const std::size_t some = std::min(done, destination.size() - done);
    std::memcpy(destination.data() + done, destination.data(), some);
    done += some;
  }
}

}  // namespace plimsoll::tensor
