#include "cli/commands/wasm_report.h"

#include <fmt/format.h>

#include "memory/size.h"
#include "wasm/binary/summary.h"

namespace plimsoll::cli {
namespace {

using memory::format_bytes;

/// Imports and exports are listed up to here; the JSON has all.
constexpr std::size_t most_listed = 40;

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text.empty() ? "none beyond 1.0" : text;
}

void append_sections(std::string& out, const wasm::Module& module) {
  out += "\nsections\n";
  std::size_t custom = 0;
  for (const wasm::SectionRange& section : module.sections) {
    std::string name(wasm::section_name(section.id));
    if (section.id == 0) {
      name = fmt::format("custom '{}'", module.name(module.custom_sections[custom++].name));
    }
    out += fmt::format("  {:<28}{:>12}  at {}\n", name, format_bytes(section.bytes.size),
                       section.bytes.offset);
  }
}

void append_imports(std::string& out, const wasm::Module& module) {
  out += fmt::format("\nimports: {}\n", module.imports.size());
  std::size_t listed = 0;
  for (const wasm::Import& import : module.imports) {
    if (listed++ == most_listed) {
      out += fmt::format("  … and {} more\n", module.imports.size() - most_listed);
      return;
    }
    out += fmt::format("  {:<9}{}.{}  {}\n", wasm::external_kind_name(import.kind),
                       module.name(import.module), module.name(import.field),
                       wasm::describe(module, import.kind, import.index));
  }
}

void append_exports(std::string& out, const wasm::Module& module) {
  out += fmt::format("\nexports: {}\n", module.exports.size());
  std::size_t listed = 0;
  for (const wasm::Export& entry : module.exports) {
    if (listed++ == most_listed) {
      out += fmt::format("  … and {} more\n", module.exports.size() - most_listed);
      return;
    }
    out += fmt::format("  {:<9}{}  {}\n", wasm::external_kind_name(entry.kind),
                       module.name(entry.name), wasm::describe(module, entry.kind, entry.index));
  }
}

void append_bodies(std::string& out, const WasmReport& report) {
  const wasm::BodySizes sizes = wasm::body_sizes(*report.module);
  out += fmt::format("\nbodies: {}, {}\n", sizes.total_count, format_bytes(sizes.total_bytes));
  for (std::size_t bucket = 0; bucket < wasm::BodySizes::buckets; ++bucket) {
    if (sizes.count[bucket] == 0) continue;
    out += fmt::format("  up to {:>9}{:>9} bodies{:>12}\n", format_bytes(1ULL << bucket),
                       sizes.count[bucket], format_bytes(sizes.bytes[bucket]));
  }
  out += "\nlargest bodies\n";
  for (const auto& [function, name] : report.largest) {
    out += fmt::format("  {:>10}  function {}{}\n", report.module->functions[function].body.size,
                       function, name.empty() ? "" : fmt::format(" '{}'", name));
  }
}

std::string figures(const WasmReport& report) {
  return fmt::format("{:.1f} ms, kernel peak {} ({} before it began)\n", report.seconds * 1e3,
                     format_bytes(report.kernel_peak_bytes), format_bytes(report.base_bytes));
}

}  // namespace

std::string wasm_inspection_text(const WasmReport& report) {
  const wasm::Module& module = *report.module;
  std::string out = fmt::format("{}: {}\n", report.file, format_bytes(module.file_bytes));
  out += fmt::format("features    {}\n", joined(module.used.names()));
  append_sections(out, module);
  append_imports(out, module);
  append_exports(out, module);
  append_bodies(out, report);
  out += "\n" + figures(report);
  return out;
}

std::string wasm_validation_text(const WasmReport& report) {
  const wasm::BodySizes sizes = wasm::body_sizes(*report.module);
  return fmt::format("{}: valid; {} functions, {} of bodies\n{}", report.file, sizes.total_count,
                     format_bytes(sizes.total_bytes), figures(report));
}

}  // namespace plimsoll::cli
