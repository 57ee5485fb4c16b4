// `plimsoll archive convert` and `verify`: archives of any format read whole, an entry at a time,
// through a window.
#include <fmt/format.h>
#include <fnmatch.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cli/commands/archive.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "cli/terminal/printable.h"
#include "plimsoll/archive.h"
#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t window_bytes = std::size_t{1} << 20;

/// An entry of one of the inputs.
struct Chosen {
  std::uint32_t archive = 0;
  std::uint32_t entry = 0;
};

/// Which entries go over, and by which key.
class Selection {
 public:
  Selection(const std::vector<Archive>& archives, const ArchiveOptions& options)
      : archives_(archives), exclusions_(options.exclusions) {
    for (const std::string& text : options.renames) add_rename(text);
    for (std::uint32_t a = 0; a < archives.size(); ++a) {
      for (std::uint32_t e = 0; e < archives[a].size(); ++e) choose({a, e});
    }
    for (const auto& [old_key, new_key] : renames_) {
      if (!used_.contains(old_key)) {
        fail_input(
            fmt::format("--rename {}={}: no entry has the key '{}'", old_key, new_key, old_key));
      }
    }
  }
  [[nodiscard]] const std::vector<Chosen>& chosen() const noexcept { return chosen_; }
  /// The key that an entry gets.
  [[nodiscard]] std::string_view key_of(std::string_view key) const {
    const auto renamed = renames_.find(key);
    return renamed == renames_.end() ? key : std::string_view(renamed->second);
  }

 private:
  void add_rename(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw Error(ErrorKind::usage, fmt::format("'{}' is not of the form OLD=NEW", text));
    }
    if (!renames_.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      throw Error(ErrorKind::usage, fmt::format("--rename {}: the key is renamed twice", text));
    }
  }
  [[nodiscard]] bool is_excluded(std::string_view key) const {
    const std::string text(key);
    for (const std::string& pattern : exclusions_) {
      if (::fnmatch(pattern.c_str(), text.c_str(), 0) == 0) return true;
    }
    return false;
  }
  void choose(Chosen chosen) {
    const std::string_view key = archives_[chosen.archive].entry(chosen.entry).key;
    if (!exclusions_.empty() && is_excluded(key)) return;
    if (renames_.contains(key)) used_.emplace(key);
    if (!keys_.insert(key_of(key)).second) {
      fail_input(fmt::format("the key '{}' would be there twice: rename or exclude one of them",
                             key_of(key)));
    }
    chosen_.push_back(chosen);
  }

  const std::vector<Archive>& archives_;
  const std::vector<std::string>& exclusions_;
  std::map<std::string, std::string, std::less<>> renames_;
  std::unordered_set<std::string_view> used_;
  std::unordered_set<std::string_view> keys_;  // of archives and renames_, which stay
  std::vector<Chosen> chosen_;
};

}  // namespace

int archive_convert(const ArchiveOptions& options) {
  std::vector<Archive> archives;
  for (const std::string& path : options.inputs) {
    auto opened = Archive::open(path, archive_limit(options));
    if (!opened) return archive_refused(opened.error());
    archives.push_back(std::move(*opened));
  }
  const Selection selection(archives, options);
  const std::vector<Chosen>& chosen = selection.chosen();
  static constexpr std::array<std::byte, 1> zero{};
  auto writer = ArchiveWriter::create(
      options.output, chosen.size(),
      [&](std::size_t number) {
        ArchiveEntry entry = archives[chosen[number].archive].entry(chosen[number].entry);
        entry.key = selection.key_of(entry.key);
        if (options.as_splats && entry.kind != ArchiveEntryKind::splat) {
          entry.kind = ArchiveEntryKind::splat;
          entry.pattern = zero;
        } else if (entry.kind == ArchiveEntryKind::external) {
          entry.kind = ArchiveEntryKind::data;  // the copy needs no other file
        }
        return entry;
      },
      archive_limit(options));
  if (!writer) return archive_refused(writer.error());
  std::vector<std::byte> window(window_bytes);
  for (std::size_t i = 0; i < chosen.size() && !options.as_splats; ++i) {
    const Archive& from = archives[chosen[i].archive];
    if (from.entry(chosen[i].entry).kind == ArchiveEntryKind::splat) continue;
    writer->copy(i, from, chosen[i].entry, window);
  }
  writer->finish();
  return exit_code::done;
}

int archive_verify(const ArchiveOptions& options) {
  const auto opened = Archive::open(options.file, archive_limit(options));
  if (!opened) return archive_refused(opened.error());
  std::vector<std::byte> window(window_bytes);
  std::size_t hashed = 0;
  for (std::size_t i = 0; i < opened->size(); ++i) {
    const ArchiveEntry entry = opened->entry(i);
    if (entry.kind == ArchiveEntryKind::splat) continue;  // all there is, is in the index
    const std::uint64_t found = content_hash(*opened, i, window);
    const auto stored = opened->stored_hash(i);
    if (!stored) continue;
    if (*stored != found) {
      fail_input(
          fmt::format("'{}': the contents of '{}' were {:016x} when it was written and are "
                      "{:016x}: the file is damaged; make or fetch it again",
                      opened->path(), entry.key, *stored, found));
    }
    ++hashed;
  }
  OutputFile out("-");
  out.write(
      printable(fmt::format("{}: {} entries are whole, {} of them compared with their hashes\n",
                            opened->path(), opened->size(), hashed)));
  out.close();
  return exit_code::done;
}

}  // namespace plimsoll::cli
