#include "wasm/binary/module.h"

namespace plimsoll::wasm {

std::string_view external_kind_name(ExternalKind kind) noexcept {
  switch (kind) {
    case ExternalKind::function:
      return "function";
    case ExternalKind::table:
      return "table";
    case ExternalKind::memory:
      return "memory";
    case ExternalKind::global:
      return "global";
    case ExternalKind::tag:
      return "tag";
  }
  return "?";
}

Module::Module(const std::shared_ptr<memory::Budget>& budget)
    : types(budget),
      imports(budget, "imports of the module"),
      functions(budget, "functions of the module"),
      tables(budget, "table types of the module"),
      memories(budget, "memory types of the module"),
      globals(budget, "globals of the module"),
      tags(budget, "tags of the module"),
      exports(budget, "exports of the module"),
      elements(budget, "element segments of the module"),
      data(budget, "data segments of the module"),
      custom_sections(budget, "custom sections of the module"),
      sections(budget, "sections of the module"),
      names(budget, "names in the module"),
      expressions(budget, "constant expressions of the module"),
      declared_functions(budget, "functions that may be referred to") {}

void Module::declare(std::uint32_t function) {
  if (declared_functions.size() < functions.size() / 8 + 1) {
    declared_functions.resize(functions.size() / 8 + 1);
  }
  declared_functions[function / 8] |= static_cast<std::uint8_t>(1U << (function % 8));
}

ByteRange Module::add_name(std::string_view text) {
  const ByteRange range{static_cast<std::uint32_t>(names.size()),
                        static_cast<std::uint32_t>(text.size())};
  names.append({text.data(), text.size()});
  return range;
}

ByteRange Module::add_expression(std::span<const std::byte> bytes) {
  const ByteRange range{static_cast<std::uint32_t>(expressions.size()),
                        static_cast<std::uint32_t>(bytes.size())};
  expressions.append(bytes);
  return range;
}

void Module::shrink_to_fit() {
  types.shrink_to_fit();
  imports.shrink_to_fit();
  functions.shrink_to_fit();
  tables.shrink_to_fit();
  globals.shrink_to_fit();
  exports.shrink_to_fit();
  elements.shrink_to_fit();
  data.shrink_to_fit();
  names.shrink_to_fit();
  expressions.shrink_to_fit();
}

std::uint64_t Module::claimed_bytes() const noexcept {
  return types.claimed_bytes() + imports.claimed_bytes() + functions.claimed_bytes() +
         tables.claimed_bytes() + memories.claimed_bytes() + globals.claimed_bytes() +
         tags.claimed_bytes() + exports.claimed_bytes() + elements.claimed_bytes() +
         data.claimed_bytes() + custom_sections.claimed_bytes() + sections.claimed_bytes() +
         names.claimed_bytes() + expressions.claimed_bytes() + declared_functions.claimed_bytes();
}

}  // namespace plimsoll::wasm
