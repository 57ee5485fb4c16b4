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
  /// Memory that the index holds.
  [[nodiscard]] std::uint64_t index_bytes() const noexcept;

  struct State;
  explicit Archive(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace plimsoll
