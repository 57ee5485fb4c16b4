// Parameter archives: files that hold weights by key. Why it exists: IRPA, safetensors and GGUF
// differ in their index only; host programs and the command line list and read them the same way.
// May touch: the other public headers.
//
// Only the index is read when an archive is opened. It is held in memory proportional to the index,
// whatever the size of the data, and claimed from the limit as it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/refusal.h"
#include "plimsoll/shape.h"

namespace plimsoll {

enum class ArchiveFormat : std::uint8_t { irpa, safetensors, gguf };
/// "irpa", "safetensors", "gguf".
[[nodiscard]] std::string_view archive_format_name(ArchiveFormat format) noexcept;

/// Where an entry's bytes are: in the archive, nowhere (one pattern repeated), in another file.
enum class ArchiveEntryKind : std::uint8_t { data, splat, external };
/// "data", "splat", "external".
[[nodiscard]] std::string_view archive_entry_kind_name(ArchiveEntryKind kind) noexcept;

/// What an archive says of one entry. The views point into the archive and live as long as it.
struct ArchiveEntry {
  std::string_view key;
  ArchiveEntryKind kind = ArchiveEntryKind::data;
  /// Name of the elements' type: those of the command line ("f32" …), and what only archives know
  /// ("q4_k", "f8_e4m3" …). Empty where the archive does not say.
  std::string_view type;
  std::optional<Shape> shape;          ///< row-major; nothing where the archive does not say
  std::string_view file;               ///< that holds the bytes; empty for a splat
  std::uint64_t offset = 0;            ///< of the bytes from the begin of `file`; 0 for a splat
  std::uint64_t length = 0;            ///< in bytes
  std::span<const std::byte> pattern;  ///< of a splat: 1, 2, 4, 8 or 16 bytes
  std::uint64_t alignment = 0;         ///< that the archive asks for; 0 where it does not
};

/// An open archive. Copies share it; all functions are thread-safe.
class Archive {
 public:
  /// Recognises the format by the first bytes (`*.index.json` of sharded safetensors by its name).
  /// `limit_bytes` bounds what the index may take; 0: what the machine or its cgroup leaves. Throws
  /// Error(bad_input) naming what is wrong with the file, Error(unsupported) for a newer version.
  [[nodiscard]] static std::expected<Archive, Refusal> open(const std::string& path,
                                                            std::uint64_t limit_bytes = 0);

  [[nodiscard]] ArchiveFormat format() const noexcept;
  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept;  ///< number of entries
  /// Entries are numbered in the order of the file.
  [[nodiscard]] ArchiveEntry entry(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view key) const;
  /// Reads destination.size() bytes of an entry from byte `offset` of it. Throws Error(bad_input)
  /// when the range is not within the entry or the file was cut, Error(failure) on a read error.
  void read(std::size_t index, std::uint64_t offset, std::span<std::byte> destination) const;
  /// The XXH3 (64 bits) that the archive's contents should have, where it says so; those that this
  /// project writes do.
  [[nodiscard]] std::optional<std::uint64_t> stored_hash(std::size_t index) const;
  /// Memory that the index holds.
  [[nodiscard]] std::uint64_t index_bytes() const noexcept;

  struct State;
  explicit Archive(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

/// Writes an IRPA archive, laid out as IREE's tools lay them out; types, shapes and hashes go into
/// each entry's metadata. The file appears under its name when it is whole; until then it is
/// PATH.part. Move-only; functions are thread-safe but `finish`.
class ArchiveWriter {
 public:
  /// What is to be said of entry `number`. Asked several times, in order; answers must not change,
  /// and their views live until the next call. Of an external entry `file` is relative to the
  /// archive; the offset is used for external entries only. An alignment of 0 is 64.
  using Describe = std::function<ArchiveEntry(std::size_t number)>;
  /// Writes the index. Throws Error(usage) for entries that cannot be, Error(bad_input) when the
  /// path cannot be written or another process is writing it, Error(failure) on a full disk.
  [[nodiscard]] static std::expected<ArchiveWriter, Refusal> create(const std::string& path,
                                                                    std::size_t count,
                                                                    const Describe& describe,
                                                                    std::uint64_t limit_bytes = 0);
  /// Bytes of a data entry at any position, in any order. What is not written reads as zeros.
  void write(std::size_t number, std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// Copies a whole entry (splats and external ones too) through `window` and keeps its hash.
  void copy(std::size_t number, const Archive& from, std::size_t index,
            std::span<std::byte> window) const;
  /// Fills an entry of `length` bytes with a pattern through `window`, and keeps its hash.
  void fill(std::size_t number, std::uint64_t length, std::span<const std::byte> pattern,
            std::span<std::byte> window) const;
  /// Syncs the file and gives it its name.
  void finish();

  struct State;
  explicit ArchiveWriter(std::unique_ptr<State> state);
  ArchiveWriter(ArchiveWriter&& other) noexcept;
  ArchiveWriter& operator=(ArchiveWriter&& other) noexcept;
  ~ArchiveWriter();

 private:
  std::unique_ptr<State> state_;
};

/// XXH3 (64 bits) of an entry's contents, read through `window`.
[[nodiscard]] std::uint64_t content_hash(const Archive& archive, std::size_t index,
                                         std::span<std::byte> window);

}  // namespace plimsoll
