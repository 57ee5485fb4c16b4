#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "plimsoll/error.h"
#include "tensor/archive/entry_facts.h"
#include "tensor/archive/file_window.h"
#include "tensor/archive/formats.h"
#include "tensor/archive/irpa.h"

namespace plimsoll::tensor {
namespace {

using irpa::Range;

Range load_range(std::span<const std::byte> bytes, std::size_t position) {
  return {load_little<std::uint64_t>(bytes, position),
          load_little<std::uint64_t>(bytes, position + 8)};
}

bool lies_within(const Range& range, std::uint64_t length) {
  return range.offset <= length && range.length <= length - range.offset;
}

/// Reads one header and its entries; links are followed by read_irpa.
class HeaderReader {
 public:
  HeaderReader(const SourceFile& file, FileWindow& entries, FileWindow& names, ArchiveFiles& files,
               ArchiveIndex& index, std::uint64_t base)
      : file_(file), window_(entries), names_(names), files_(files), index_(index), base_(base) {}

  /// False: the budget refused.
  bool read() {
    if (file_.size() - base_ < irpa::header_bytes) {
      fail_input(fmt::format("the header at offset {} is cut: fetch the file again", base_));
    }
    const auto bytes = window_.at(base_, irpa::header_bytes);
    if (std::memcmp(bytes.data(), "IRPA", 4) != 0) {
      fail_input(
          fmt::format("there is no header at offset {}, where one should be: fetch the file "
                      "again",
                      base_));
    }
    const auto major = load_little<std::uint16_t>(bytes, 4);
    const auto minor = load_little<std::uint16_t>(bytes, 6);
    if (major != 0 || minor != 0) {
      fail_unsupported(
          fmt::format("version {}.{} of the format is newer than 0.0, which this build "
                      "reads: convert the archive",
                      major, minor));
    }
    const auto size = load_little<std::uint64_t>(bytes, 8);
    if (size != irpa::header_bytes) {
      fail_input(fmt::format("the header at offset {} says that it has {} bytes; it must be {}",
                             base_, size, irpa::header_bytes));
    }
    next_ = load_little<std::uint64_t>(bytes, 16);
    const auto count = load_little<std::uint64_t>(bytes, 32);
    const Range entries = segment(load_range(bytes, 40), "entry");
    metadata_ = segment(load_range(bytes, 56), "metadata");
    storage_ = segment(load_range(bytes, 72), "storage");
    return read_entries(entries, count);
  }

  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }

 private:
  /// Makes a segment's offset absolute. An empty segment may say any offset.
  [[nodiscard]] Range segment(Range range, const char* what) const {
    if (range.length == 0) return {base_, 0};
    if (!lies_within(range, file_.size() - base_)) {
      fail_input(
          fmt::format("the {} segment of the header at offset {}, {} bytes at {}, lies beyond "
                      "the file's {} bytes: the file was cut; fetch it again",
                      what, base_, range.length, range.offset, file_.size()));
    }
    return {base_ + range.offset, range.length};
  }

  bool read_entries(const Range& entries, std::uint64_t count) {
    std::uint64_t position = 0;
    for (std::uint64_t number = 0; number < count; ++number) {
      const std::uint64_t left = entries.length - std::min(position, entries.length);
      if (left < irpa::entry_bytes) {
        fail_input(
            fmt::format("the header at offset {} promises {} entries, but its entry segment "
                        "ends after {}: fetch the file again",
                        base_, count, number));
      }
      const std::uint64_t at = entries.offset + position;
      const auto size = load_little<std::uint64_t>(window_.at(at, 8), 0);
      if (size < irpa::entry_bytes || size > left) {
        fail_input(
            fmt::format("entry {} at offset {} says that it has {} bytes; at least {} are "
                        "needed and {} are left in the segment: fetch the file again",
                        number, at, size, irpa::entry_bytes, left));
      }
      // What a later minor version may append to an entry is not looked at.
      const auto bytes = window_.at(
          at, static_cast<std::size_t>(std::min<std::uint64_t>(size, FileWindow::capacity)));
      if (!read_entry(bytes, number)) return false;
      // At most left + 15, which is far from wrapping: a segment lies within the file.
      position +=
          (size + irpa::entry_alignment - 1) / irpa::entry_alignment * irpa::entry_alignment;
    }
    return true;
  }

  static void require_size(std::span<const std::byte> bytes, std::size_t size, const char* kind,
                           std::uint64_t number) {
    if (bytes.size() < size) {
      fail_input(
          fmt::format("entry {} has {} bytes, too few for a {} entry, which has {}: fetch the "
                      "file again",
                      number, bytes.size(), kind, size));
    }
  }

  bool read_entry(std::span<const std::byte> bytes, std::uint64_t number) {
    const auto type = load_little<std::uint32_t>(bytes, 8);
    if (type == static_cast<std::uint32_t>(irpa::EntryType::skip)) return true;
    const Range name = metadata_range(load_range(bytes, 20), "name", number);
    const Range about = metadata_range(load_range(bytes, 36), "metadata", number);
    NewArchiveEntry entry;
    entry.alignment = load_little<std::uint64_t>(bytes, 52);
    if (entry.alignment != 0 && (entry.alignment & (entry.alignment - 1)) != 0) {
      fail_input(fmt::format("entry {} asks for an alignment of {}, which is no power of two",
                             number, entry.alignment));
    }
    if (name.length > FileWindow::capacity - 1) {
      fail_input(
          fmt::format("the name of entry {} has {} bytes, more than the {} that are supported",
                      number, name.length, FileWindow::capacity - 1));
    }
    // Names that overlap would make a small file's index huge.
    if (name.length > metadata_.length - named_) {
      fail_input(
          fmt::format("the names overlap: up to entry {} they have more bytes than the "
                      "metadata segment",
                      number));
    }
    named_ += name.length;
    switch (type) {
      case static_cast<std::uint32_t>(irpa::EntryType::splat):
        require_size(bytes, irpa::splat_bytes, "splat", number);
        read_splat(bytes, number, entry);
        break;
      case static_cast<std::uint32_t>(irpa::EntryType::data):
        require_size(bytes, irpa::data_bytes, "data", number);
        read_data(bytes, number, entry);
        break;
      case static_cast<std::uint32_t>(irpa::EntryType::external):
        require_size(bytes, irpa::external_bytes, "external", number);
        if (!read_external(bytes, number, entry)) return false;
        break;
      default:
        fail_unsupported(
            fmt::format("entry {} is of kind {}, which version 0 does not have", number, type));
    }
    const auto text = names_.at(name.offset, static_cast<std::size_t>(name.length));
    entry.key = {reinterpret_cast<const char*>(text.data()), text.size()};
    if (entry.key.contains('\0')) {
      fail_input(fmt::format("the name of entry {} holds a zero byte", number));
    }
    const std::string key(entry.key);  // the window moves on
    entry.key = key;
    take_facts(about, entry);
    return index_.add(entry, {about.offset, about.length});
  }

  /// What our own writer says in the metadata; of others' nothing is taken.
  void take_facts(const Range& about, NewArchiveEntry& entry) {
    if (about.length < facts_begin.size() || about.length > most_facts_bytes) return;
    const auto text = names_.at(about.offset, static_cast<std::size_t>(about.length));
    const auto facts = parse_entry_facts({reinterpret_cast<const char*>(text.data()), text.size()});
    if (!facts) return;
    entry.shape = facts->shape;
    entry.type = facts->type;
    if (entry.shape && entry.type != ArchiveType::unknown &&
        archive_bytes(entry.type, *entry.shape) != entry.length) {
      fail_input(fmt::format(
          "the metadata of '{}' say {} of shape {}, which are not its {} bytes: make "
          "the archive again",
          entry.key, facts_of(entry.type).name, entry.shape->to_string(), entry.length));
    }
  }

  /// Makes a range of the metadata segment absolute.
  [[nodiscard]] Range metadata_range(const Range& range, const char* what,
                                     std::uint64_t number) const {
    if (range.length == 0) return {metadata_.offset, 0};
    if (!lies_within(range, metadata_.length)) {
      fail_input(
          fmt::format("the {} of entry {}, {} bytes at {}, lies outside of the metadata "
                      "segment of {} bytes: fetch the file again",
                      what, number, range.length, range.offset, metadata_.length));
    }
    return {metadata_.offset + range.offset, range.length};
  }

  static void read_splat(std::span<const std::byte> bytes, std::uint64_t number,
                         NewArchiveEntry& entry) {
    entry.kind = ArchiveEntryKind::splat;
    entry.length = load_little<std::uint64_t>(bytes, 60);
    entry.pattern_length = load_little<std::uint8_t>(bytes, 84);
    switch (entry.pattern_length) {
      case 1:
      case 2:
      case 4:
      case 8:
      case 16:
        break;
      default:
        fail_input(
            fmt::format("the pattern of entry {} has {} bytes; it must have 1, 2, 4, 8 or 16",
                        number, entry.pattern_length));
    }
    if (entry.length % entry.pattern_length != 0) {
      fail_input(
          fmt::format("the splat of entry {} has {} bytes, which its pattern of {} bytes does "
                      "not divide",
                      number, entry.length, entry.pattern_length));
    }
    if (entry.length > std::uint64_t{1} << 62) {
      fail_input(fmt::format("the splat of entry {} has {} bytes, which is more than can be",
                             number, entry.length));
    }
    std::copy_n(bytes.begin() + 68, entry.pattern_length, entry.pattern.begin());
  }

  void read_data(std::span<const std::byte> bytes, std::uint64_t number,
                 NewArchiveEntry& entry) const {
    const Range range = load_range(bytes, 60);
    entry.length = range.length;
    entry.offset = storage_.offset;
    if (range.length == 0) return;  // writers give empty ones any offset
    if (!lies_within(range, storage_.length)) {
      fail_input(
          fmt::format("the data of entry {}, {} bytes at {}, lies outside of the storage "
                      "segment of {} bytes: fetch the file again",
                      number, range.length, range.offset, storage_.length));
    }
    entry.offset = storage_.offset + range.offset;
  }

  bool read_external(std::span<const std::byte> bytes, std::uint64_t number,
                     NewArchiveEntry& entry) {
    const Range path = metadata_range(load_range(bytes, 60), "path", number);
    const Range range = load_range(bytes, 76);
    constexpr std::uint64_t longest_path = 4096;  // PATH_MAX
    if (path.length == 0 || path.length > longest_path) {
      fail_input(fmt::format("the path of entry {} has {} bytes; 1 to {} are possible", number,
                             path.length, longest_path));
    }
    if (range.offset + range.length < range.offset || range.offset + range.length > INT64_MAX) {
      fail_input(fmt::format("the range of external entry {}, {} bytes at {}, is in no file",
                             number, range.length, range.offset));
    }
    // A path used by many entries is kept once, and so many may be spelled by one place; what is
    // kept anew counts against the segment, as names do.
    const auto text = names_.at(path.offset, static_cast<std::size_t>(path.length));
    const std::size_t before = files_.size();
    entry.kind = ArchiveEntryKind::external;
    const std::string_view location(reinterpret_cast<const char*>(text.data()), text.size());
    entry.file = files_.add(location);
    entry.offset = range.offset;
    entry.length = range.length;
    if (files_.size() == before) return true;
    if (path.length > metadata_.length - named_) {
      fail_input(
          fmt::format("paths and names overlap: up to entry {} they have more bytes than the "
                      "metadata segment",
                      number));
    }
    named_ += path.length;
    return index_.claim_beside(files_.bytes_for(location));
  }

  const SourceFile& file_;
  FileWindow& window_;
  FileWindow& names_;
  ArchiveFiles& files_;
  ArchiveIndex& index_;
  std::uint64_t base_;
  std::uint64_t next_ = 0;
  Range metadata_;
  Range storage_;
  std::uint64_t named_ = 0;  ///< bytes of names and paths so far
};

}  // namespace

bool read_irpa(const SourceFile& file, ArchiveFiles& files, ArchiveIndex& index) {
  FileWindow entries(file);
  FileWindow names(file);
  std::uint64_t base = 0;
  while (true) {
    HeaderReader reader(file, entries, names, files, index, base);
    if (!reader.read()) return false;
    if (reader.next() == 0) return true;
    // Forward only, so that links cannot make a circle.
    if (reader.next() < irpa::header_bytes || reader.next() > file.size() - base) {
      fail_input(
          fmt::format("the header at offset {} links to one {} bytes further, which lies in "
                      "itself or beyond the file: fetch the file again",
                      base, reader.next()));
    }
    base += reader.next();
  }
}

}  // namespace plimsoll::tensor
