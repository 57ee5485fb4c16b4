#include "cli/values/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "cli/values/deflate_source.h"
#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

constexpr std::uint64_t end_record_bytes = 22;
constexpr std::uint64_t longest_comment = 65535;
constexpr std::uint64_t zip64_locator_bytes = 20;
constexpr std::uint64_t zip64_end_bytes = 56;
constexpr std::uint64_t directory_record_bytes = 46;
constexpr std::uint64_t local_header_bytes = 30;
constexpr std::uint16_t stored = 0;
constexpr std::uint16_t deflated = 8;
constexpr std::uint16_t flag_encrypted = 1;
/// Deflate makes at most 1032 bytes of one (zlib's technical notes).
constexpr std::uint64_t largest_expansion = 1032;
/// How many names a message lists.
constexpr std::size_t listed_names = 16;

[[noreturn]] void fail_damaged(const std::string& path, std::string_view what) {
  fail_input(fmt::format("'{}' is a damaged .npz archive: {}; write it again with numpy.savez",
                         path, what));
}

std::uint64_t little_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t index = size; index-- > 0;) {
    value = value << 8 | static_cast<std::uint64_t>(bytes[at + index]);
  }
  return value;
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

/// The 64-bit forms of sizes that do not fit the end record, where there are any.
void widen(const InputFile& file, std::uint64_t end_at, Directory& directory) {
  if (end_at < zip64_locator_bytes) return;
  std::array<std::byte, zip64_locator_bytes> locator{};
  file.read(end_at - zip64_locator_bytes, locator);
  if (little_endian(locator, 0, 4) != 0x07064b50) return;
  const std::uint64_t at = little_endian(locator, 8, 8);
  if (at > file.size() || file.size() - at < zip64_end_bytes) {
    fail_damaged(file.path(), "its end record lies outside the file");
  }
  std::array<std::byte, zip64_end_bytes> end{};
  file.read(at, end);
  if (little_endian(end, 0, 4) != 0x06064b50) {
    fail_damaged(file.path(), "its 64-bit end record is missing");
  }
  directory.entries = little_endian(end, 32, 8);
  directory.bytes = little_endian(end, 40, 8);
  directory.offset = little_endian(end, 48, 8);
}

Directory find_directory(const InputFile& file) {
  if (file.size() < end_record_bytes) fail_damaged(file.path(), "it is too short");
  std::vector<std::byte> tail(std::min(file.size(), end_record_bytes + longest_comment));
  const std::uint64_t tail_at = file.size() - tail.size();
  file.read(tail_at, tail);
  for (std::size_t at = tail.size() - end_record_bytes + 1; at-- > 0;) {
    if (little_endian(tail, at, 4) != 0x06054b50) continue;
    if (little_endian(tail, at + 20, 2) > tail.size() - at - end_record_bytes) continue;
    Directory directory;
    directory.entries = little_endian(tail, at + 10, 2);
    directory.bytes = little_endian(tail, at + 12, 4);
    directory.offset = little_endian(tail, at + 16, 4);
    widen(file, tail_at + at, directory);
    if (directory.offset > file.size() || directory.bytes > file.size() - directory.offset) {
      fail_damaged(file.path(), "its directory lies outside the file");
    }
    return directory;
  }
  fail_damaged(file.path(), "it has no end record");
}

/// Extra field 1 holds, in this order, those of the three numbers that are all ones in the record.
void widen(std::span<const std::byte> extra, ZipEntry& entry, const std::string& path) {
  std::uint64_t* const fields[] = {&entry.bytes, &entry.compressed_bytes, &entry.header_offset};
  const auto is_wide = [](const std::uint64_t* field) { return *field == 0xFFFFFFFF; };
  if (std::ranges::none_of(fields, is_wide)) return;
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::uint64_t id = little_endian(extra, at, 2);
    const std::uint64_t size = little_endian(extra, at + 2, 2);
    at += 4;
    if (size > extra.size() - at) break;
    if (id == 1) {
      std::size_t from = 0;
      for (std::uint64_t* field : fields) {
        if (!is_wide(field)) continue;
        if (from + 8 > size) fail_damaged(path, "an entry's 64-bit size is missing");
        *field = little_endian(extra, at + from, 8);
        from += 8;
      }
      return;
    }
    at += size;
  }
}

/// Walks the directory's records, one at a time.
class DirectoryWalk {
 public:
  DirectoryWalk(const InputFile& file, const Directory& directory)
      : file_(file),
        at_(directory.offset),
        end_(directory.offset + directory.bytes),
        left_(directory.entries) {}

  std::optional<ZipEntry> next() {
    if (left_ == 0) return std::nullopt;
    --left_;
    std::array<std::byte, directory_record_bytes> record{};
    if (end_ - at_ < record.size()) fail_damaged(file_.path(), "its directory is cut");
    file_.read(at_, record);
    at_ += record.size();
    if (little_endian(record, 0, 4) != 0x02014b50) {
      fail_damaged(file_.path(), "its directory holds no record where one should be");
    }
    ZipEntry entry;
    entry.flags = static_cast<std::uint16_t>(little_endian(record, 8, 2));
    entry.method = static_cast<std::uint16_t>(little_endian(record, 10, 2));
    entry.checksum = static_cast<std::uint32_t>(little_endian(record, 16, 4));
    entry.compressed_bytes = little_endian(record, 20, 4);
    entry.bytes = little_endian(record, 24, 4);
    entry.header_offset = little_endian(record, 42, 4);
    const std::uint64_t name_bytes = little_endian(record, 28, 2);
    const std::uint64_t extra_bytes = little_endian(record, 30, 2);
    const std::uint64_t comment_bytes = little_endian(record, 32, 2);
    if (end_ - at_ < name_bytes + extra_bytes + comment_bytes) {
      fail_damaged(file_.path(), "its directory is cut");
    }
    std::vector<std::byte> text(name_bytes + extra_bytes);
    file_.read(at_, text);
    at_ += text.size() + comment_bytes;
    entry.name.assign(reinterpret_cast<const char*>(text.data()), name_bytes);
    widen(std::span(text).subspan(name_bytes), entry, file_.path());
    return entry;
  }

 private:
  const InputFile& file_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::uint64_t left_;
};

std::string without_ending(std::string_view name) {
  return std::string(name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name);
}

/// Bytes of a stored entry, with their checksum.
class StoredSource final : public ByteSource {
 public:
  StoredSource(std::string name, std::shared_ptr<const InputFile> file, std::uint64_t offset,
               std::uint64_t size, std::uint32_t checksum)
      : ByteSource(std::move(name), size),
        file_(std::move(file)),
        offset_(offset),
        wanted_(checksum) {}
  void finish() override {
    std::array<std::byte, 4096> rest{};
    while (remaining() != 0) {
      read(std::span(rest).first(std::min<std::uint64_t>(rest.size(), remaining())));
    }
    if (checksum_ != wanted_) {
      fail_damaged(file_->path(), fmt::format("the checksum of '{}' does not match", name()));
    }
  }

 private:
  void read_some(std::span<std::byte> destination) override {
    file_->read(offset_, destination);
    offset_ += destination.size();
    checksum_ = static_cast<std::uint32_t>(
        crc32_z(checksum_, reinterpret_cast<const Bytef*>(destination.data()), destination.size()));
  }
  std::shared_ptr<const InputFile> file_;
  std::uint64_t offset_;
  std::uint32_t wanted_;
  std::uint32_t checksum_ = 0;
};

}  // namespace

ZipEntry find_zip_entry(const InputFile& file, const std::string& key) {
  DirectoryWalk walk(file, find_directory(file));
  std::string names;
  std::size_t count = 0;
  std::optional<ZipEntry> only;
  while (auto entry = walk.next()) {
    const std::string name = without_ending(entry->name);
    if (!key.empty() && (entry->name == key || name == key)) return *entry;
    if (++count <= listed_names) names += fmt::format("{}{}", count == 1 ? "" : ", ", name);
    if (count == 1) only = std::move(entry);
  }
  if (count > listed_names) names += fmt::format(" and {} more", count - listed_names);
  if (count == 0) fail_input(fmt::format("'{}' holds no arrays", file.path()));
  if (key.empty() && count == 1) return *only;
  if (key.empty()) {
    fail_input(fmt::format("'{}' holds several arrays: {}; say which, as in '{}:{}'", file.path(),
                           names, file.path(), without_ending(only->name)));
  }
  fail_input(fmt::format("'{}' holds no array '{}'; it has: {}", file.path(), key, names));
}

std::unique_ptr<ByteSource> open_zip_entry(const std::shared_ptr<const InputFile>& file,
                                           const ZipEntry& entry) {
  const std::string name = fmt::format("{}:{}", file->path(), without_ending(entry.name));
  if ((entry.flags & flag_encrypted) != 0) {
    fail_unsupported(fmt::format("'{}' is encrypted; write it without a password", name));
  }
  if (entry.method != stored && entry.method != deflated) {
    fail_unsupported(
        fmt::format("'{}' is compressed by method {}; write it with numpy.savez or "
                    "numpy.savez_compressed",
                    name, entry.method));
  }
  if (entry.header_offset > file->size() ||
      file->size() - entry.header_offset < local_header_bytes) {
    fail_damaged(file->path(), fmt::format("'{}' lies outside the file", name));
  }
  std::array<std::byte, local_header_bytes> header{};
  file->read(entry.header_offset, header);
  if (little_endian(header, 0, 4) != 0x04034b50) {
    fail_damaged(file->path(), fmt::format("'{}' has no header", name));
  }
  const std::uint64_t offset = entry.header_offset + local_header_bytes +
                               little_endian(header, 26, 2) + little_endian(header, 28, 2);
  if (offset > file->size() || file->size() - offset < entry.compressed_bytes) {
    fail_damaged(file->path(), fmt::format("'{}' is cut", name));
  }
  if (entry.method == stored) {
    if (entry.bytes != entry.compressed_bytes) {
      fail_damaged(file->path(), fmt::format("the sizes of '{}' contradict each other", name));
    }
    return std::make_unique<StoredSource>(name, file, offset, entry.bytes, entry.checksum);
  }
  if (entry.bytes / largest_expansion > entry.compressed_bytes) {
    fail_damaged(file->path(), fmt::format("'{}' claims {} bytes, more than its {} can hold", name,
                                           entry.bytes, entry.compressed_bytes));
  }
  return std::make_unique<DeflateSource>(name, file, offset, entry.compressed_bytes, entry.bytes,
                                         entry.checksum);
}

}  // namespace plimsoll::cli
