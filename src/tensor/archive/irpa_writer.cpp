#include "tensor/archive/irpa_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"
#include "tensor/archive/entry_facts.h"

namespace plimsoll::tensor {
namespace {

constexpr std::uint64_t entries_begin = 96;  // the header, to a multiple of 16
constexpr std::uint64_t usual_alignment = 64;
constexpr std::uint64_t file_alignment = 4096;
constexpr std::size_t buffer_bytes = std::size_t{64} << 10;
constexpr std::uint64_t largest = std::uint64_t{1} << 62;

std::uint64_t aligned(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Writes forward through a buffer.
class Forward {
 public:
  Forward(const ReplacedFile& file, std::uint64_t position) : file_(file), position_(position) {
    buffer_.reserve(buffer_bytes);
  }
  void bytes(std::string_view text) {
    while (!text.empty()) {
      if (buffer_.size() == buffer_bytes) flush();
      const std::size_t some = std::min(text.size(), buffer_bytes - buffer_.size());
      buffer_.append(text.substr(0, some));
      text.remove_prefix(some);
    }
  }
  template <class Number>
  void number(Number value) {
    bytes({reinterpret_cast<const char*>(&value), sizeof(value)});
  }
  void range(std::uint64_t offset, std::uint64_t length) {
    number(offset);
    number(length);
  }
  [[nodiscard]] std::uint64_t position() const noexcept { return position_ + buffer_.size(); }
  void pad_to(std::uint64_t position) { bytes(std::string(position - this->position(), '\0')); }
  void flush() {
    file_.write(position_, std::as_bytes(std::span(buffer_)));
    position_ += buffer_.size();
    buffer_.clear();
  }

 private:
  const ReplacedFile& file_;
  std::uint64_t position_;
  std::string buffer_;
};

std::size_t bytes_of(ArchiveEntryKind kind) {
  switch (kind) {
    case ArchiveEntryKind::data:
      return irpa::data_bytes;
    case ArchiveEntryKind::splat:
      return irpa::splat_bytes;
    case ArchiveEntryKind::external:
      return irpa::external_bytes;
  }
  return 0;
}

std::uint64_t alignment_of(const ArchiveEntry& entry) {
  if (entry.kind != ArchiveEntryKind::data) return 0;
  return entry.alignment == 0 ? usual_alignment : entry.alignment;
}

/// What is said of an entry, and of an external one the path behind it.
std::string metadata_of(const ArchiveEntry& entry, std::size_t& hash_at) {
  FactsText facts = format_entry_facts(entry.type, entry.shape);
  hash_at = facts.hash_at;
  return std::move(facts.text);
}

void require(const ArchiveEntry& entry) {
  const auto fail = [&](const char* why) {
    throw Error(ErrorKind::usage,
                fmt::format("the entry '{}' cannot be written: {}", entry.key, why));
  };
  if (entry.key.size() >= buffer_bytes) fail("its key is longer than 64 KiB");
  if (entry.key.contains('\0')) fail("its key holds a zero byte");
  if (entry.length > largest || entry.offset > largest) fail("it is larger than can be");
  const std::uint64_t alignment = alignment_of(entry);
  if ((alignment & (alignment - 1)) != 0 || alignment > (std::uint64_t{1} << 30)) {
    fail("its alignment is no power of two up to 2^30");
  }
  if (entry.kind == ArchiveEntryKind::splat) {
    const std::size_t size = entry.pattern.size();
    if (size == 0 || size > 16 || (size & (size - 1)) != 0 || entry.length % size != 0) {
      fail("a splat has 1, 2, 4, 8 or 16 bytes, which divide its length");
    }
  }
  if (entry.kind == ArchiveEntryKind::external &&
      (entry.file.empty() || entry.file.size() > 4096)) {
    fail("the path of its file is empty or longer than 4096 bytes");
  }
}

}  // namespace

struct IrpaWriter::Sizes {
  std::uint64_t entries = 0;
  std::uint64_t metadata = 0;
  std::uint64_t storage = 0;
  std::uint64_t storage_begin = 0;
};

std::expected<std::unique_ptr<IrpaWriter>, Refusal> IrpaWriter::create(const std::string& path,
                                                                       std::size_t count,
                                                                       const Describe& describe,
                                                                       memory::Budget& budget) {
  auto reservation = budget.reserve(
      count * (sizeof(Place) + sizeof(std::uint64_t)) + 2 * buffer_bytes, "the archive's layout");
  if (!reservation) return std::unexpected(std::move(reservation.error()));
  std::unique_ptr<IrpaWriter> writer(new IrpaWriter(path));
  writer->reservation_ = std::move(*reservation);
  writer->lay_out(count, describe);
  return writer;
}

void IrpaWriter::lay_out(std::size_t count, const Describe& describe) {
  Sizes sizes;
  std::uint64_t most_alignment = 1;
  places_.resize(count);
  lengths_.resize(count);
  for (std::size_t number = 0; number < count; ++number) {
    const ArchiveEntry entry = describe(number);
    require(entry);
    std::size_t hash_at = 0;
    sizes.entries = aligned(sizes.entries, irpa::entry_alignment) + bytes_of(entry.kind);
    sizes.metadata += entry.key.size() + metadata_of(entry, hash_at).size();
    if (entry.kind == ArchiveEntryKind::external) sizes.metadata += entry.file.size();
    if (entry.kind != ArchiveEntryKind::data) continue;
    const std::uint64_t alignment = alignment_of(entry);
    most_alignment = std::max(most_alignment, alignment);
    places_[number].data = aligned(sizes.storage, alignment);
    lengths_[number] = entry.length;
    sizes.storage = places_[number].data + entry.length;
    if (sizes.storage > largest) fail_input("the archive would be larger than a file can be");
  }
  sizes.storage_begin = aligned(entries_begin + sizes.entries + sizes.metadata, most_alignment);
  file_bytes_ = aligned(sizes.storage_begin + sizes.storage, file_alignment);
  file_.set_size(file_bytes_);
  write_entries(count, describe, sizes);
  write_metadata(count, describe, sizes);
}

void IrpaWriter::write_entries(std::size_t count, const Describe& describe, const Sizes& sizes) {
  Forward out(file_, 0);
  out.bytes("IRPA");
  out.number(std::uint32_t{0});
  out.number(std::uint64_t{irpa::header_bytes});
  out.number(std::uint64_t{0});  // no next header
  out.number(std::uint64_t{0});
  out.number(std::uint64_t{count});
  out.range(entries_begin, sizes.entries);
  out.range(entries_begin + sizes.entries, sizes.metadata);
  out.range(sizes.storage_begin, sizes.storage);
  out.pad_to(entries_begin);
  std::uint64_t text = 0;  // in the metadata segment
  for (std::size_t number = 0; number < count; ++number) {
    const ArchiveEntry entry = describe(number);
    std::size_t hash_at = 0;
    const std::uint64_t facts = metadata_of(entry, hash_at).size();
    out.pad_to(aligned(out.position(), irpa::entry_alignment));
    out.number(std::uint64_t{bytes_of(entry.kind)});
    irpa::EntryType type = irpa::EntryType::data;
    if (entry.kind == ArchiveEntryKind::splat) type = irpa::EntryType::splat;
    if (entry.kind == ArchiveEntryKind::external) type = irpa::EntryType::external;
    out.number(static_cast<std::uint32_t>(type));
    out.number(std::uint64_t{0});
    out.range(text, entry.key.size());
    out.range(text + entry.key.size(), facts);
    out.number(alignment_of(entry));
    text += entry.key.size() + facts;
    if (entry.kind == ArchiveEntryKind::splat) {
      std::array<char, 16> pattern{};
      std::memcpy(pattern.data(), entry.pattern.data(), entry.pattern.size());
      out.number(entry.length);
      out.bytes({pattern.data(), pattern.size()});
      out.number(static_cast<std::uint8_t>(entry.pattern.size()));
    } else if (entry.kind == ArchiveEntryKind::external) {
      out.range(text, entry.file.size());
      out.range(entry.offset, entry.length);
      text += entry.file.size();
    } else {
      out.range(places_[number].data, entry.length);
      places_[number].data += sizes.storage_begin;
    }
  }
  out.flush();
}

void IrpaWriter::write_metadata(std::size_t count, const Describe& describe, const Sizes& sizes) {
  Forward out(file_, entries_begin + sizes.entries);
  for (std::size_t number = 0; number < count; ++number) {
    const ArchiveEntry entry = describe(number);
    std::size_t hash_at = 0;
    out.bytes(entry.key);
    const std::string facts = metadata_of(entry, hash_at);
    places_[number].hash = out.position() + hash_at;
    out.bytes(facts);
    if (entry.kind == ArchiveEntryKind::external) out.bytes(entry.file);
  }
  out.flush();
}

void IrpaWriter::write(std::size_t number, std::uint64_t offset,
                       std::span<const std::byte> bytes) const {
  const std::uint64_t length = lengths_.at(number);
  if (places_[number].data == 0 || offset > length || bytes.size() > length - offset) {
    fail_internal(fmt::format("entry {} of '{}' does not have {} bytes at {}", number, file_.path(),
                              bytes.size(), offset));
  }
  file_.write(places_[number].data + offset, bytes);
}

void IrpaWriter::set_hash(std::size_t number, std::uint64_t hash) const {
  const std::string digits = format_hash(hash);
  file_.write(places_.at(number).hash, std::as_bytes(std::span(digits)));
}

}  // namespace plimsoll::tensor
