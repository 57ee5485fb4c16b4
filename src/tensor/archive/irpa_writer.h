// Writes IRPA archives, laid out as IREE's tools lay them out. Why it exists: `archive create` and
// `convert`, and encoded weights, end in such a file. May touch: this folder, memory/budget.
//
// The index is written first, from descriptions that are asked for one by one (they are never all
// in memory); data follow at any position of any entry, in any order and from several threads. The
// file appears under its name only when it is whole. Memory: 16 bytes for each entry and 64 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "memory/budget.h"
#include "plimsoll/archive.h"
#include "tensor/archive/irpa.h"
#include "tensor/archive/replaced_file.h"

namespace plimsoll::tensor {

class IrpaWriter {
 public:
  /// What the index says of entry `number`. Asked several times, in order; the answer must not
  /// change, and its views live until the next call. Used are key, kind, type, shape, length, of a
  /// splat the pattern, of data the alignment (0: 64), of an external entry `file` (relative to the
  /// archive) and offset.
  using Describe = std::function<ArchiveEntry(std::size_t number)>;

  /// Throws Error(usage) for descriptions that cannot be, and what ReplacedFile throws.
  [[nodiscard]] static std::expected<std::unique_ptr<IrpaWriter>, Refusal> create(
      const std::string& path, std::size_t count, const Describe& describe, memory::Budget& budget);

  /// Bytes of a data entry, from byte `offset` of it. Thread-safe.
  void write(std::size_t number, std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// The hash of an entry's contents, for its metadata. Thread-safe.
  void set_hash(std::size_t number, std::uint64_t hash) const;
  /// Makes the archive appear. What was not written reads as zeros.
  void finish() { file_.publish(); }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }

 private:
  struct Place {
    std::uint64_t data = 0;  ///< in the file; 0: not a data entry
    std::uint64_t hash = 0;  ///< in the file
  };
  struct Sizes;
  explicit IrpaWriter(const std::string& path) : file_(path) {}
  void lay_out(std::size_t count, const Describe& describe);
  void write_entries(std::size_t count, const Describe& describe, const Sizes& sizes);
  void write_metadata(std::size_t count, const Describe& describe, const Sizes& sizes);

  ReplacedFile file_;
  memory::Reservation reservation_;
  std::vector<Place> places_;
  std::vector<std::uint64_t> lengths_;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace plimsoll::tensor
