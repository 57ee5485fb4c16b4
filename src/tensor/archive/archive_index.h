// The index of an archive in memory. Why it exists: a million entries must cost what their records
// and names take and no more, and hostile counts must not be believed. May touch: memory/budget,
// archive_type.h, the public archive.h.
//
// Records and names are kept in blocks that never move, so growing copies nothing. Memory is
// claimed in steps as entries arrive: nothing is sized by a number from the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/budget.h"
#include "plimsoll/archive.h"
#include "tensor/archive/archive_type.h"

namespace plimsoll::tensor {

/// What a reader found out of one entry; the key is copied by `add`.
struct NewArchiveEntry {
  std::string_view key;
  ArchiveEntryKind kind = ArchiveEntryKind::data;
  ArchiveType type = ArchiveType::unknown;
  std::optional<Shape> shape;
  std::uint32_t file = 0;  ///< number of the file that holds the bytes
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::array<std::byte, 16> pattern{};
  std::uint8_t pattern_length = 0;
  std::uint64_t alignment = 0;
};

/// A range of the archive's own file that describes an entry (IRPA); length 0: none.
struct MetadataRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

struct ArchiveOverlap {
  std::string_view first;
  std::string_view second;
};

class ArchiveIndex {
 public:
  explicit ArchiveIndex(std::shared_ptr<memory::Budget> budget);

  /// False when the budget is full; `refusal` then says why and nothing more may be added. Throws
  /// Error(bad_input) for keys longer than 64 KiB.
  [[nodiscard]] bool add(const NewArchiveEntry& entry, MetadataRange metadata = {});
  /// Sorts by key. False as above. `duplicate_key` is then told, if there is one.
  [[nodiscard]] bool finish();
  /// Looks for two entries whose bytes overlap (for formats in which that is a fault). False as
  /// above. No range may wrap.
  [[nodiscard]] bool find_overlap(std::optional<ArchiveOverlap>& overlap);
  [[nodiscard]] const Refusal& refusal() const noexcept { return refusal_; }
  [[nodiscard]] std::optional<std::string_view> duplicate_key() const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  /// All but `file`'s name, which the archive knows.
  [[nodiscard]] ArchiveEntry entry(std::size_t index) const;
  [[nodiscard]] std::uint32_t file_of(std::size_t index) const { return records_[index].file; }
  [[nodiscard]] MetadataRange metadata_of(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view key) const;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return used_; }
  [[nodiscard]] const std::shared_ptr<memory::Budget>& budget() const noexcept { return budget_; }
  /// Claims what a reader keeps beside the index: names of files. False as `add`.
  [[nodiscard]] bool claim_beside(std::uint64_t bytes) { return claim(bytes); }
  /// Takes over why another index was refused. For readers that need two. Returns false.
  bool refuse(const Refusal& refusal) {
    refusal_ = refusal;
    return false;
  }

 private:
  struct Record {
    const char* key = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint64_t metadata_offset = 0;
    std::uint64_t metadata_length = 0;
    std::uint64_t dimensions = 0;  ///< where they begin in dimensions_
    std::uint64_t alignment = 0;
    std::array<std::byte, 16> pattern{};
    std::uint32_t file = 0;
    std::uint16_t key_length = 0;
    std::uint8_t pattern_length = 0;
    std::int8_t rank = -1;  ///< −1: unknown
    ArchiveEntryKind kind = ArchiveEntryKind::data;
    ArchiveType type = ArchiveType::unknown;
    [[nodiscard]] std::string_view name() const { return {key, key_length}; }
  };
  [[nodiscard]] bool claim(std::uint64_t bytes);
  [[nodiscard]] const char* keep(std::string_view text);

  std::shared_ptr<memory::Budget> budget_;
  memory::Reservation reservation_;
  std::uint64_t used_ = 0;
  Refusal refusal_;
  std::deque<Record> records_;
  std::deque<std::int64_t> dimensions_;
  std::vector<std::unique_ptr<char[]>> text_blocks_;
  std::size_t text_left_ = 0;  ///< in the last block
  char* text_next_ = nullptr;
  std::vector<std::uint32_t> by_key_;
};

}  // namespace plimsoll::tensor
