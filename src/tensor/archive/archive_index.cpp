#include "tensor/archive/archive_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

// One lock of the budget for some thousand entries.
constexpr std::uint64_t claim_step = std::uint64_t{256} << 10;
constexpr std::size_t text_block_bytes = std::size_t{64} << 10;
constexpr std::size_t longest_key = std::numeric_limits<std::uint16_t>::max();

}  // namespace

ArchiveIndex::ArchiveIndex(std::shared_ptr<memory::Budget> budget) : budget_(std::move(budget)) {}

bool ArchiveIndex::claim(std::uint64_t bytes) {
  if (used_ + bytes > reservation_.bytes()) {
    const std::uint64_t wanted = (used_ + bytes + claim_step - 1) / claim_step * claim_step;
    if (reservation_.bytes() == 0) {
      auto first = budget_->reserve(wanted, "the archive's index");
      if (!first) {
        refusal_ = std::move(first.error());
        return false;
      }
      reservation_ = std::move(*first);
    } else if (auto grown = reservation_.resize(wanted); !grown) {
      refusal_ = std::move(grown.error());
      return false;
    }
  }
  used_ += bytes;
  return true;
}

const char* ArchiveIndex::keep(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > text_left_) {
    text_blocks_.push_back(std::make_unique_for_overwrite<char[]>(text_block_bytes));
    text_next_ = text_blocks_.back().get();
    text_left_ = text_block_bytes;
  }
  char* begin = text_next_;
  std::memcpy(begin, text.data(), text.size());
  text_next_ += text.size();
  text_left_ -= text.size();
  return begin;
}

bool ArchiveIndex::add(const NewArchiveEntry& entry, MetadataRange metadata) {
  if (entry.key.size() > longest_key) {
    fail_input(fmt::format("a key has {} bytes, more than the {} that are supported",
                           entry.key.size(), longest_key));
  }
  if (records_.size() == std::numeric_limits<std::uint32_t>::max()) {
    fail_input("there are more than 2^32 - 1 entries: split the archive");
  }
  const std::size_t rank = entry.shape ? entry.shape->rank() : 0;
  const std::uint64_t text = entry.key.size() > text_left_ ? text_block_bytes : 0;
  if (!claim(sizeof(Record) + rank * sizeof(std::int64_t) + text)) return false;
  Record record;
  record.key = keep(entry.key);
  record.key_length = static_cast<std::uint16_t>(entry.key.size());
  record.offset = entry.offset;
  record.length = entry.length;
  record.metadata_offset = metadata.offset;
  record.metadata_length = metadata.length;
  record.alignment = entry.alignment;
  record.pattern = entry.pattern;
  record.pattern_length = entry.pattern_length;
  record.file = entry.file;
  record.kind = entry.kind;
  record.type = entry.type;
  if (entry.shape) {
    record.dimensions = dimensions_.size();
    record.rank = static_cast<std::int8_t>(rank);
    for (const std::int64_t dimension : entry.shape->dimensions()) {
      dimensions_.push_back(dimension);
    }
  }
  records_.push_back(record);
  return true;
}

bool ArchiveIndex::finish() {
  if (by_key_.size() == records_.size()) return true;  // already, or nothing to do
  if (!claim(records_.size() * sizeof(std::uint32_t))) return false;
  by_key_.resize(records_.size());
  std::iota(by_key_.begin(), by_key_.end(), 0U);
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    return records_[a].name() < records_[b].name();
  };
  if (!std::is_sorted(by_key_.begin(), by_key_.end(), before)) {
    std::sort(by_key_.begin(), by_key_.end(), before);
  }
  // Less than is claimed, so it cannot be refused.
  if (reservation_.bytes() != 0 && !reservation_.resize(used_)) {
    fail_internal("a smaller index was refused");
  }
  return true;
}

std::optional<std::string_view> ArchiveIndex::duplicate_key() const noexcept {
  for (std::size_t i = 1; i < by_key_.size(); ++i) {
    const std::string_view key = records_[by_key_[i]].name();
    if (records_[by_key_[i - 1]].name() == key) return key;
  }
  return std::nullopt;
}

bool ArchiveIndex::find_overlap(std::optional<ArchiveOverlap>& overlap) {
  const std::uint64_t bytes = records_.size() * sizeof(std::uint32_t);
  if (!claim(bytes)) return false;
  std::vector<std::uint32_t> by_place(records_.size());
  std::iota(by_place.begin(), by_place.end(), 0U);
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    const Record& first = records_[a];
    const Record& second = records_[b];
    return std::tie(first.file, first.offset, first.length) <
           std::tie(second.file, second.offset, second.length);
  };
  if (!std::is_sorted(by_place.begin(), by_place.end(), before)) {
    std::sort(by_place.begin(), by_place.end(), before);
  }
  const Record* last = nullptr;  // of those that hold bytes
  for (const std::uint32_t number : by_place) {
    const Record& record = records_[number];
    if (record.length == 0) continue;
    if (last != nullptr && last->file == record.file &&
        last->offset + last->length > record.offset) {
      overlap = {last->name(), record.name()};
      break;
    }
    last = &record;
  }
  used_ -= bytes;
  return true;
}

ArchiveEntry ArchiveIndex::entry(std::size_t index) const {
  const Record& record = records_[index];
  ArchiveEntry entry;
  entry.key = record.name();
  entry.kind = record.kind;
  entry.type = facts_of(record.type).name;
  if (record.rank >= 0) {
    std::array<std::int64_t, Shape::max_rank> dimensions{};
    const std::size_t rank = static_cast<std::uint8_t>(record.rank);
    for (std::size_t i = 0; i < rank; ++i) dimensions[i] = dimensions_[record.dimensions + i];
    entry.shape = Shape(std::span<const std::int64_t>(dimensions.data(), rank));
  }
  entry.offset = record.offset;
  entry.length = record.length;
  entry.pattern = std::span(record.pattern).first(record.pattern_length);
  entry.alignment = record.alignment;
  return entry;
}

MetadataRange ArchiveIndex::metadata_of(std::size_t index) const {
  const Record& record = records_[index];
  return {record.metadata_offset, record.metadata_length};
}

std::optional<std::size_t> ArchiveIndex::find(std::string_view key) const {
  const auto found = std::lower_bound(
      by_key_.begin(), by_key_.end(), key,
      [this](std::uint32_t a, std::string_view wanted) { return records_[a].name() < wanted; });
  if (found == by_key_.end() || records_[*found].name() != key) return std::nullopt;
  return *found;
}

}  // namespace plimsoll::tensor
