// `plimsoll archive create`: entries from the command line. Splats come first, then data, then
// external entries.
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

#include "cli/commands/archive.h"
#include "cli/exit_code.h"
#include "cli/values/value_spec.h"
#include "plimsoll/archive.h"
#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t window_bytes = std::size_t{1} << 20;

/// Owns what an ArchiveEntry views.
struct Wanted {
  std::string key;
  ArchiveEntryKind kind = ArchiveEntryKind::data;
  ValueType type;
  std::vector<std::byte> pattern;
  std::string file;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

[[noreturn]] void fail_usage(const std::string& text, const char* form) {
  throw Error(ErrorKind::usage, fmt::format("'{}' is not of the form {}", text, form));
}

Wanted parse_entry(const std::string& text, bool is_splat) {
  const char* form = is_splat ? "NAME=SHAPExTYPE=VALUE" : "NAME=SHAPExTYPE[=VALUE]";
  // Names may hold '=': VALUE and SHAPExTYPE are taken from the end.
  const std::size_t last = text.rfind('=');
  if (last == std::string::npos || last == 0) fail_usage(text, form);
  Wanted wanted;
  wanted.kind = is_splat ? ArchiveEntryKind::splat : ArchiveEntryKind::data;
  if (const auto type = parse_value_type(text.substr(last + 1)); type && !is_splat) {
    wanted.key = text.substr(0, last);
    wanted.type = *type;
    wanted.pattern.resize(element_size(type->type));
  } else {
    const std::size_t middle = text.rfind('=', last - 1);
    if (middle == std::string::npos || middle == 0) fail_usage(text, form);
    const ValueSpec value = parse_value(text.substr(middle + 1));
    const auto* constant = std::get_if<ConstantValue>(&value);
    if (constant == nullptr) fail_usage(text, form);
    wanted.key = text.substr(0, middle);
    wanted.type = constant->type;
    wanted.pattern.assign(
        constant->element.begin(),
        constant->element.begin() + static_cast<std::ptrdiff_t>(element_size(constant->type.type)));
  }
  if (wanted.pattern.empty()) fail_usage(text, form);
  wanted.length = checked_bytes(wanted.type.shape, wanted.pattern.size(), wanted.key.c_str());
  return wanted;
}

std::uint64_t parse_number(const std::string& whole, std::string_view text, const char* form) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) fail_usage(whole, form);
  return number;
}

Wanted parse_external(const std::string& text) {
  const char* form = "NAME=FILE:OFFSET:LENGTH";
  const std::size_t equals = text.find('=');
  const std::size_t length = text.rfind(':');
  if (equals == std::string::npos || equals == 0 || length == std::string::npos) {
    fail_usage(text, form);
  }
  const std::size_t offset = text.rfind(':', length - 1);
  if (offset == std::string::npos || offset <= equals + 1) fail_usage(text, form);
  Wanted wanted;
  wanted.kind = ArchiveEntryKind::external;
  wanted.key = text.substr(0, equals);
  wanted.file = text.substr(equals + 1, offset - equals - 1);
  wanted.offset =
      parse_number(text, std::string_view(text).substr(offset + 1, length - offset - 1), form);
  wanted.length = parse_number(text, std::string_view(text).substr(length + 1), form);
  return wanted;
}

ArchiveEntry view_of(const Wanted& wanted) {
  ArchiveEntry entry;
  entry.key = wanted.key;
  entry.kind = wanted.kind;
  if (wanted.kind != ArchiveEntryKind::external) {
    entry.type = element_name(wanted.type.type);
    entry.shape = wanted.type.shape;
  }
  entry.file = wanted.file;
  entry.offset = wanted.offset;
  entry.length = wanted.length;
  if (wanted.kind == ArchiveEntryKind::splat) entry.pattern = wanted.pattern;
  return entry;
}

bool is_zero(const std::vector<std::byte>& pattern) {
  for (const std::byte byte : pattern) {
    if (byte != std::byte{0}) return false;
  }
  return true;
}

}  // namespace

int archive_create(const ArchiveOptions& options) {
  std::vector<Wanted> wanted;
  for (const std::string& text : options.splats) wanted.push_back(parse_entry(text, true));
  for (const std::string& text : options.data) wanted.push_back(parse_entry(text, false));
  for (const std::string& text : options.externals) wanted.push_back(parse_external(text));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (wanted[i].key != wanted[k].key) continue;
      throw Error(ErrorKind::usage, fmt::format("the key '{}' is given twice", wanted[i].key));
    }
  }
  auto writer = ArchiveWriter::create(
      options.output, wanted.size(), [&](std::size_t number) { return view_of(wanted[number]); },
      archive_limit(options));
  if (!writer) return archive_refused(writer.error());
  std::vector<std::byte> window(window_bytes);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    // Zeros are there already, as a hole.
    if (wanted[i].kind != ArchiveEntryKind::data || is_zero(wanted[i].pattern)) continue;
    writer->fill(i, wanted[i].length, wanted[i].pattern, window);
  }
  writer->finish();
  return exit_code::done;
}

}  // namespace plimsoll::cli
