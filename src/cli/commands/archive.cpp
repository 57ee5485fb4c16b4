// `plimsoll archive list`: includes nlohmann-json for the entries, one by one: a document of a
// million entries would take a thousand times the memory of its index.
#include "cli/commands/archive.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "cli/terminal/printable.h"
#include "plimsoll/engine.h"
#include "plimsoll/limit.h"

namespace plimsoll::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string entry_json(const ArchiveEntry& entry) {
  Json json;
  json["key"] = entry.key;
  json["kind"] = archive_entry_kind_name(entry.kind);
  json["type"] = entry.type.empty() ? Json() : Json(entry.type);
  json["shape"] = Json();
  if (entry.shape) {
    json["shape"] = Json::array();
    for (const std::int64_t dimension : entry.shape->dimensions()) {
      json["shape"].push_back(dimension);
    }
  }
  const bool splat = entry.kind == ArchiveEntryKind::splat;
  json["file"] = splat ? Json() : Json(entry.file);
  json["offset"] = splat ? Json() : Json(entry.offset);
  json["length"] = entry.length;
  json["splat"] = splat ? Json(hexadecimal(entry.pattern)) : Json();
  return text_of(json);
}

std::string entry_text(const ArchiveEntry& entry, const std::string& archive) {
  std::string text = fmt::format("{}  ", entry.key);
  if (!entry.type.empty()) {
    text += fmt::format("{} {}  ", entry.type, entry.shape ? entry.shape->to_string() : "?");
  }
  if (entry.kind == ArchiveEntryKind::splat) {
    return text + fmt::format("{} bytes of 0x{}\n", entry.length, hexadecimal(entry.pattern));
  }
  text += fmt::format("{} bytes at {}", entry.length, entry.offset);
  if (entry.file != archive) text += fmt::format(" of {}", entry.file);
  return text + "\n";
}

void list_json(const Archive& archive, const std::string& path) {
  OutputFile file(path);
  Json head;
  head["command"] = "archive list";
  head["file"] = archive.path();
  head["format"] = archive_format_name(archive.format());
  std::string text = text_of(head);
  text.back() = ',';
  file.write(text + "\n\"entries\": [");
  std::uint64_t data_bytes = 0;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const ArchiveEntry entry = archive.entry(i);
    if (entry.kind != ArchiveEntryKind::splat) data_bytes += entry.length;
    file.write((i == 0 ? "\n" : ",\n") + entry_json(entry));
  }
  file.write(fmt::format(
      "\n],\n\"entry_count\": {}, \"data_bytes\": {}, \"index_bytes\": {}, "
      "\"kernel_peak_bytes\": {}}}\n",
      archive.size(), data_bytes, archive.index_bytes(), Engine::kernel_memory().peak_bytes));
  file.close();
}

}  // namespace

std::uint64_t archive_limit(const ArchiveOptions& options) {
  return options.memory_limit.empty() ? 0 : parse_limit(options.memory_limit);
}

int archive_refused(const Refusal& refusal) {
  fmt::print(stderr, "plimsoll: {}\n", printable(refusal.to_string()));
  return exit_code::does_not_fit;
}

int archive_list(const ArchiveOptions& options) {
  if (!options.json.empty() && options.json != "-") require_writable(options.json);
  const auto opened = Archive::open(options.file, archive_limit(options));
  if (!opened) return archive_refused(opened.error());
  if (!options.json.empty()) {
    list_json(*opened, options.json);
    return exit_code::done;
  }
  OutputFile out("-");
  out.write(printable(fmt::format("{}: {}, {} entries\n", opened->path(),
                                  archive_format_name(opened->format()), opened->size())));
  for (std::size_t i = 0; i < opened->size(); ++i) {
    out.write(printable(entry_text(opened->entry(i), opened->path())));
  }
  out.close();
  return exit_code::done;
}

int archive(int argc, char** argv) {
  const ArchiveParsed parsed = parse_archive_options(argc, argv);
  if (parsed.exit_code >= 0) return parsed.exit_code;
  switch (parsed.options.command) {
    case ArchiveCommand::list:
      return archive_list(parsed.options);
    case ArchiveCommand::create:
      return archive_create(parsed.options);
    case ArchiveCommand::convert:
      return archive_convert(parsed.options);
    case ArchiveCommand::verify:
      return archive_verify(parsed.options);
  }
  return exit_code::usage;
}

}  // namespace plimsoll::cli
